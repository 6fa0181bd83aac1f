import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochPlan, EpochRow } from "./epoch.ts";
import { epochLimit, type Policy, taskCounts } from "./policy.ts";

const policy = { parallelism: 4, adaptive: true, records: null, intervalMs: 50 } as unknown as Policy;
const mebibyte = 1024 * 1024;

test("an epoch has tasks by its size, as many as its sub-ranges at most; where tasks are cheap, smaller ones", () => {
  const plan = (bytes: number, cuts: number) =>
    ({
      bytes,
      partitions: [{ from: 0, to: 9, cuts: Array.from({ length: cuts }, (_, at) => at + 1) }],
    }) as unknown as EpochPlan;
  const counts = (given: Policy, bytes: number, cuts = 7) => taskCounts(given, plan(bytes, cuts), 2, 128, 0);
  assert.deepEqual(counts(policy, 2 * mebibyte), [1, 1]);
  assert.deepEqual(counts(policy, 2 * mebibyte + 1), [2, 2]);
  assert.deepEqual(counts(policy, 99 * mebibyte), [4, 4]);
  assert.deepEqual(counts(policy, 99 * mebibyte, 0), [1, 1]);
  const local = { ...policy, taskBytes: mebibyte / 2 };
  assert.deepEqual(counts(local, 2 * mebibyte), [4, 4]);
  assert.deepEqual(counts(local, mebibyte / 2), [1, 1]);
});

test("an epoch that took too long makes the next smaller, but never so small that nothing is won by it", () => {
  const last = (bytes: number, tookMs: number) =>
    ({ status: "decided", plannedAt: 0, decision: { counts: { bytes }, decidedAt: tookMs } }) as unknown as EpochRow;
  assert.equal(epochLimit(policy, last(8 * mebibyte, 100)).bytes, 4 * mebibyte);
  assert.equal(epochLimit(policy, last(8 * mebibyte, 25)).bytes, 16 * mebibyte);
  assert.equal(epochLimit(policy, last(mebibyte / 4, 500)).bytes, mebibyte / 4);
  assert.equal(epochLimit(policy, last(1000, 500)).bytes, mebibyte / 4);
});
