import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EpochPlan, PlannedPartition } from "./epoch.ts";
import { watermarkAfter } from "./watermark.ts";

const partition = (id: string, given: Partial<PlannedPartition> = {}): PlannedPartition => ({
  id,
  identity: null,
  from: 0,
  to: 0,
  cuts: [],
  idle: false,
  maxEventTime: null,
  activeAt: 0,
  ...given,
});
const plan = (partitions: PlannedPartition[], given: Partial<EpochPlan> = {}): EpochPlan => ({
  bytes: 0,
  partitions,
  watermark: null,
  advanceTo: null,
  processingTime: 0,
  ...given,
});
const seen = (times: Record<string, number>) => new Map(Object.entries(times));

describe("watermarkAfter", () => {
  it("is the minimum over the partitions, less what may be out of order", () => {
    assert.equal(watermarkAfter(plan([partition("a"), partition("b")]), seen({ a: 900, b: 500 }), 100), 400);
  });
  it("is held back by a partition that never had a record", () => {
    assert.equal(watermarkAfter(plan([partition("a"), partition("b")]), seen({ a: 900 }), 100), null);
    assert.equal(watermarkAfter(plan([partition("a"), partition("b")], { watermark: 7 }), seen({ a: 900 }), 100), 7);
  });
  it("passes idle partitions, and takes the maximum if all are idle", () => {
    const idle = partition("b", { idle: true, maxEventTime: 300 });
    assert.equal(watermarkAfter(plan([partition("a"), idle]), seen({ a: 900 }), 100), 800);
    const both = plan([partition("a", { idle: true, maxEventTime: 900 }), idle, partition("c", { idle: true })]);
    assert.equal(watermarkAfter(both, seen({}), 100), 800);
  });
  it("remembers earlier epochs' event times, and never goes back", () => {
    const before = partition("a", { maxEventTime: 1000 });
    assert.equal(watermarkAfter(plan([before]), seen({ a: 400 }), 100), 900);
    assert.equal(watermarkAfter(plan([before], { watermark: 950 }), seen({ a: 400 }), 100), 950);
  });
  it("goes at least to where the end of a bounded run takes it", () => {
    assert.equal(
      watermarkAfter(plan([partition("a", { idle: true, maxEventTime: 1000 })], { advanceTo: 3600 }), seen({}), 100),
      3600,
    );
  });
  it("is null where nothing is known", () => {
    assert.equal(watermarkAfter(plan([]), seen({}), 0), null);
    assert.equal(watermarkAfter(plan([partition("a", { idle: true })]), seen({}), 0), null);
  });
});
