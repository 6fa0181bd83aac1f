import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, parseAddress } from "./address.ts";

test("addresses of brokers are host and port", () => {
  for (const text of ["localhost:9092", "10.0.0.1:1", "b-1.msk.eu-west-1.amazonaws.com:9098", "[::1]:9092"]) {
    assert.equal(formatAddress(parseAddress(text)), text);
  }
  assert.deepEqual(parseAddress(" [fe80::1]:19092 "), { host: "fe80::1", port: 19092 });
});

test("whatever else is refused", () => {
  for (const text of [
    "",
    "localhost",
    "localhost:",
    ":9092",
    "a:0",
    "a:65536",
    "a:1:2",
    "::1:9092",
    "http://a:9092",
    "a b:1",
    "u@h/p:1",
  ]) {
    assert.throws(() => parseAddress(text), { code: "invalid-brokers" }, text);
  }
});
