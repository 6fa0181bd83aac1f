import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { environment, parameter } from "../index.ts";
import { Secret } from "./secret.ts";

const variable = "EPOCHFLOW_TEST_SECRET";

test("a secret is revealed to whoever asks for it, and to nobody else", async () => {
  const literal = Secret.of("password", "hush");
  assert.equal(await literal.reveal(), "hush");
  const shown = [String(literal), JSON.stringify({ literal }), inspect({ literal }, { showHidden: true, depth: 9 })];
  for (const text of [...shown, `${literal}`, JSON.stringify(structuredClone(literal))])
    assert.ok(!text.includes("hush"), text);
  assert.equal(await Secret.of("password", async () => "fetched").reveal(), "fetched");
});

test("one of the environment is looked up when it is revealed", async () => {
  const secret = Secret.of("password", environment(variable));
  assert.equal(String(secret), `environment("${variable}")`);
  delete process.env[variable];
  await assert.rejects(secret.reveal(), { code: "missing-environment", message: new RegExp(variable) });
  process.env[variable] = "hush";
  assert.equal(await secret.reveal(), "hush");
  assert.ok(!inspect(secret).includes("hush"));
  delete process.env[variable];
});

test("a parameter has no default, and its value is a secret", async () => {
  const secret = Secret.of("password", parameter("password"));
  assert.equal(String(secret), 'parameter("password")');
  const bound = secret.bind(() => "hush");
  assert.equal(await bound.reveal(), "hush");
  assert.equal(String(bound), "(secret)");
  await assert.rejects(secret.reveal(), /has no value yet/);
  assert.throws(() => Secret.of("password", parameter("password", "hush")), {
    code: "invalid-secret",
    message: /default/,
  });
});

test("other things are no secrets", () => {
  for (const wrong of ["", undefined, null, 7, {}, ["hush"]]) {
    assert.throws(() => Secret.of("password of sasl", wrong), { code: "invalid-secret", message: /password of sasl/ });
  }
  for (const wrong of ["", "1A", "A-B", "A=B"])
    assert.throws(() => environment(wrong), { code: "invalid-environment" });
});
