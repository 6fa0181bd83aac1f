import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Source } from "../../ports/source.ts";
import { bind } from "../bind.ts";
import { text } from "../decoders/text.ts";
import { describe } from "../describe.ts";
import { explain } from "../explain.ts";
import { compareFingerprints, fingerprint } from "../fingerprint.ts";
import { parameter } from "../parameter.ts";
import { pipeline } from "../pipeline.ts";
import { environment, type Secret, secret } from "../secret.ts";
import type { SinkDescription, SourceDescription } from "../topology.ts";
import { customSink, customSource } from "./custom.ts";

const create = (): TwoPhaseCommitSink<string> => undefined as never;
const createSource = (): Source => undefined as never;
const source = customSource({ name: "queue", options: { queue: "lines" }, create: createSource, value: text() });
const describeTo = (sink: SinkDescription<string>, from: SourceDescription<string, unknown> = source) =>
  describe(pipeline("own").from(from).to(sink, { id: "rows" }));

test("types: rows, and the options as `create` gets them", () => {
  const typed: SinkDescription<string> = customSink({
    name: "table",
    options: {
      host: parameter("host", "localhost"),
      password: environment("PASSWORD"),
      columns: ["a", "b"],
      of: (row: string) => row.length,
      deep: { token: secret(() => "hidden") },
    },
    create: (options) => {
      const host: string = options.host;
      const password: Secret = options.password;
      const columns: readonly string[] = options.columns;
      const length: number = options.of("row");
      const token: Secret = options.deep.token;
      assert.fail(`${host} ${password} ${columns} ${length} ${token}`);
    },
  });
  describeTo(typed);
  const lengths = pipeline("own")
    .from(source)
    .map((line) => line.length);
  // @ts-expect-error a sink of texts takes no numbers
  lengths.to(typed);
});

test("parameters are found and bound, and nothing shows a secret", async () => {
  const sink = customSink({
    name: "table",
    options: { host: parameter("host"), password: secret(parameter("password")), plain: secret("hidden"), rows: 5 },
    create,
  });
  const described = describeTo(sink);
  assert.deepEqual(
    described.parameters.map(({ name }) => name),
    ["host", "password"],
  );
  assert.match(
    explain(described),
    /table sink \{ host: parameter\("host"\), password: parameter\("password"\), plain: \(secret\), rows: 5 \}/,
  );
  const bound = bind(described, { host: "db", password: "hidden" });
  const { host, password } = bound.sinks.rows!.options as { host: string; password: Secret };
  assert.deepEqual([host, await password.reveal()], ["db", "hidden"]);
  for (const shown of [
    explain(bound),
    JSON.stringify(bound),
    inspect(bound, { depth: 9 }),
    JSON.stringify(fingerprint(bound)),
  ])
    assert.doesNotMatch(shown, /hidden/);
});

test("name and permanent options are in the fingerprint, the others are not", () => {
  const of = (options: { table: string; host: string }, name = "table") =>
    fingerprint(describeTo(customSink({ name, options, permanent: ["table"], create })));
  const before = of({ table: "a", host: "x" });
  assert.equal(before.sinks.rows, 'table {"table":"a"}');
  assert.deepEqual(compareFingerprints(before, of({ table: "a", host: "y" })), []);
  assert.deepEqual(compareFingerprints(before, of({ table: "b", host: "x" })), [
    'rows: the option table was "a", is "b"',
  ]);
  assert.deepEqual(compareFingerprints(before, of({ table: "a", host: "x" }, "other")), [
    "rows: was a table sink, is a other sink",
  ]);
  const queue = (name: string) =>
    fingerprint(
      describeTo(
        customSink({ name: "table", options: {}, create }),
        customSource({ name: "queue", options: { name }, permanent: ["name"], create: createSource, value: text() }),
      ),
    );
  assert.deepEqual(compareFingerprints(queue("a"), queue("b")), ['source-1: the option name was "a", is "b"']);
  assert.deepEqual(queue("a").sinks, { rows: "table" });
});

test("what cannot be described is refused", () => {
  const refused = (given: object, message: RegExp, code = "invalid-option") =>
    assert.throws(() => customSink({ name: "table", options: {}, create, ...given } as never), { code, message });
  for (const name of ["files", "kafka", "Table", "a b", ""]) refused({ name }, /name of customSink/);
  refused({ create: "x" }, /create of customSink\(\) takes a function/, "invalid-argument");
  refused({ option: {} }, /Did you mean "options"/, "unknown-option");
  refused({ options: { client: new Map() } }, /"client" of options of customSink\(\) is a Map/);
  refused({ options: { deep: [{ big: 1n }] } }, /is a bigint/);
  refused({ options: { url: "postgres://alice:hidden@db/x" } }, /has a password in it/, "secret-in-options");
  refused({ options: {}, permanent: ["table"] }, /names "table", which is no option/);
  refused({ options: { password: environment("P") }, permanent: ["password"] }, /which is a secret/);
  describeTo(customSink({ name: "table", options: { url: "postgres://alice@db:5432/x", at: "12:30@x" }, create }));
});
