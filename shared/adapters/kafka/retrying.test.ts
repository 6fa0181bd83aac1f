import assert from "node:assert/strict";
import { test } from "node:test";
import { KafkaError } from "./errors.ts";
import { retrying } from "./retrying.ts";

const failing = (failures: readonly Error[]) => {
  const left = [...failures];
  return async () => {
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return "done";
  };
};
const moved = new KafkaError("NOT_LEADER_OR_FOLLOWER", "it has moved");
const fenced = new KafkaError("INVALID_PRODUCER_EPOCH", "a newer producer");

test("what passes by itself is tried again; what does not is thrown", async () => {
  assert.equal(await retrying(failing([moved, moved]), { timeoutMs: 60_000 }), "done");
  await assert.rejects(retrying(failing([moved, fenced]), { timeoutMs: 60_000 }), fenced);
  await assert.rejects(retrying(failing([new Error("a bug")]), { timeoutMs: 60_000 }), { message: "a bug" });
  const retryable = (error: unknown) => error === fenced;
  assert.equal(await retrying(failing([fenced]), { timeoutMs: 60_000, retryable }), "done");
});

test("it ends at the deadline with the last error, and on the signal", async () => {
  const always = async () => {
    throw moved;
  };
  await assert.rejects(retrying(always, { timeoutMs: 50 }), moved);
  const signal = AbortSignal.timeout(5);
  await assert.rejects(retrying(always, { timeoutMs: 60_000, signal }), { name: "TimeoutError" });
});
