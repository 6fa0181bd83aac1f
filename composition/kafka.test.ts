import assert from "node:assert/strict";
import { test } from "node:test";
import { connection } from "../shared/pipeline/connectors/kafka-connection.ts";
import { connectionOf } from "./kafka.ts";

const access = {
  brokers: "b-1:9096,b-2:9096",
  tls: {},
  sasl: { mechanism: "scram-sha-512", username: async () => "alice", password: async () => "p" },
} as const;

test("a connection to the deployment's brokers takes its access", () => {
  const given = connectionOf(connection({ brokers: access.brokers }), access);
  assert.deepEqual([given.brokers, given.tls, given.sasl], [["b-1:9096", "b-2:9096"], access.tls, access.sasl]);
  const plain = connectionOf(connection({ brokers: "localhost:9092" }), { brokers: "localhost:9092" });
  assert.deepEqual(Object.keys(plain), ["brokers", "clientId"]);
});

test("one to other brokers, or with a way in of its own, does not", () => {
  const other = connectionOf(connection({ brokers: "other:9092" }), access);
  assert.deepEqual([other.tls, other.sasl], [undefined, undefined]);
  const own = connectionOf(connection({ brokers: access.brokers, tls: { ca: "ca.pem" } }), access);
  assert.deepEqual([Object.keys(own.tls ?? {}), own.sasl], [["ca"], undefined]);
  assert.equal(connectionOf(connection({ brokers: access.brokers }), undefined).sasl, undefined);
});
