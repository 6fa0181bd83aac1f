import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { requestWatcher } from "./kafka-requests.ts";

function requestOf(api: number, rest: number): Buffer {
  const request = Buffer.alloc(6 + rest, 1);
  request.writeInt32BE(2 + rest, 0);
  request.writeInt16BE(api, 4);
  return request;
}

test("each request is told once, however the connection's bytes are cut", () => {
  const requests = fc.array(fc.tuple(fc.constantFrom(0, 1, 26), fc.nat(20)), { maxLength: 10 });
  fc.assert(
    fc.property(requests, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (given, cuts) => {
      const told: string[] = [];
      const watch = requestWatcher((name) => told.push(name));
      const bytes = Buffer.concat(given.map(([api, rest]) => requestOf(api, rest)));
      const connection = {};
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = cuts[turn % cuts.length]!;
        watch(bytes.subarray(at, at + size), connection);
        at += size;
      }
      const names: Record<number, string> = { 0: "Produce", 1: "Fetch", 26: "EndTxn" };
      assert.deepEqual(
        told,
        given.map(([api]) => names[api]),
      );
    }),
  );
});

test("connections are kept apart, and an API without a name has its number", () => {
  const told: string[] = [];
  const watch = requestWatcher((name) => told.push(name));
  const [one, other] = [requestOf(0, 4), requestOf(999, 0)];
  const [a, b] = [{}, {}];
  watch(one.subarray(0, 5), a);
  watch(other, b);
  watch(one.subarray(5), a);
  assert.deepEqual(told, ["API 999", "Produce"]);
});
