import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { resolveConnection } from "../../adapters/kafka/connection/connection.ts";
import { environment, kafka, parameter, pipeline, text } from "../../index.ts";
import { bind } from "../bind.ts";
import { describe } from "../describe.ts";
import { explain } from "../explain.ts";
import type { KafkaConnectionOptions, KafkaConnectionSettings } from "./kafka-connection.ts";

const brokers = "a:9092";

/** The connection of a pipeline's source and sink, after its parameters have got values. */
function bound(settings: KafkaConnectionSettings | undefined, values: Record<string, string> = {}) {
  const connection = settings === undefined ? {} : { connection: settings };
  const definition = pipeline("demo")
    .from(kafka.source({ topic: "in", value: text(), ...connection }))
    .to(kafka.sink({ topic: "out", value: text(), ...connection }));
  const topology = describe(definition);
  const { nodes, sinks } = bind(topology, values);
  const [node] = nodes;
  const source = node?.kind === "source" ? node.source.options.connection : undefined;
  // One client serves both.
  assert.equal(source, sinks["sink-1"]!.options.connection);
  return { topology, settings: source as KafkaConnectionSettings };
}

test("brokers are a text with commas or a list, with parameters; by default the parameter brokers", () => {
  const addresses = (settings: KafkaConnectionSettings | undefined, values?: Record<string, string>) =>
    resolveConnection(bound(settings, values).settings).brokers;
  assert.deepEqual(addresses(undefined, { brokers: "a:9092, b:9093" }), ["a:9092", "b:9093"]);
  assert.deepEqual(addresses(kafka.connection({ brokers })), ["a:9092"]);
  const list = kafka.connection({ brokers: [parameter("first"), "c:1,d:2"] });
  assert.deepEqual(addresses(list, { first: "a:9092,b:9093" }), ["a:9092", "b:9093", "c:1", "d:2"]);
  assert.throws(() => addresses(undefined, { brokers: " , " }), { code: "invalid-brokers" });
});

test("secrets are in no description, whatever shows it", async () => {
  const connection = kafka.connection({
    brokers,
    clientId: parameter("client", "me"),
    tls: { ca: "ca.pem", certificate: "mine.pem", key: "hush-key", passphrase: environment("PHRASE") },
    sasl: { mechanism: "scram-sha-512", username: "hush-user", password: parameter("password") },
  });
  const { topology, settings } = bound(connection, { password: "hush-password" });
  for (const shown of [topology, settings].flatMap((value) => [JSON.stringify(value), inspect(value, { depth: 20 })])) {
    assert.ok(!shown.includes("hush"), shown);
  }
  const explained = explain(topology);
  assert.ok(!explained.includes("hush"), explained);
  assert.match(explained, /passphrase: environment\("PHRASE"\)/);
  assert.match(explained, /password: parameter\("password"\)/);
  const { sasl, clientId } = resolveConnection(settings);
  assert.equal(clientId, "me");
  assert.ok(sasl?.mechanism === "scram-sha-512");
  assert.equal(await sasl.password(), "hush-password");
});

test("tls may be turned off by a value", () => {
  assert.equal(kafka.connection({ brokers, tls: false }).tls, undefined);
  assert.deepEqual(kafka.connection({ brokers, tls: true }).tls, {});
});

test("options that are unknown or do not belong together are refused", () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{}, /brokers/],
    [{ brokers: [] }, /must name a broker/],
    [{ brokers: "" }, /brokers/],
    [{ broker: "a:1" }, /has no option "broker". Did you mean "brokers"/],
    [{ brokers, tls: { cert: "x" } }, /has no option "cert"/],
    [{ brokers, tls: { certificate: "x" } }, /certificate and key together/],
    [{ brokers, tls: { key: "x" } }, /certificate and key together/],
    [{ brokers, sasl: { mechanism: "SCRAM-SHA-256" } }, /no mechanism "SCRAM-SHA-256". Did you mean "scram-sha-256"/],
    [{ brokers, sasl: {} }, /no mechanism/],
    [{ brokers, sasl: { mechanism: "plain", username: "u" } }, /password of sasl/],
    [{ brokers, sasl: { mechanism: "plain", username: "u", password: "p", token: () => "" } }, /no option "token"/],
    [{ brokers, sasl: { mechanism: "oauthbearer" } }, /tokenEndpoint/],
    [{ brokers, sasl: { mechanism: "oauthbearer", token: "x" } }, /token of sasl takes a function/],
    [{ brokers, sasl: { mechanism: "oauthbearer", token: () => "", clientId: "x" } }, /no option "clientId"/],
    [{ brokers, sasl: { mechanism: "oauthbearer", token: () => "", extensions: { auth: "x" } } }, /"auth"/],
    [{ brokers, sasl: { mechanism: "aws-msk-iam", regoin: "x" } }, /Did you mean "region"/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(
      () => kafka.connection(options as KafkaConnectionOptions),
      { kind: "usage", message },
      String(message),
    );
  }
  const plain = { brokers: ["a:1"], clientId: "x" } as KafkaConnectionSettings;
  assert.throws(() => kafka.source({ topic: "t", value: text(), connection: plain }), { message: /kafka\.connection/ });
  assert.throws(() => kafka.sink({ topic: "t", value: text(), connection: plain }), { message: /kafka\.connection/ });
});
