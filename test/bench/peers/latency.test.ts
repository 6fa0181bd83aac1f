import assert from "node:assert/strict";
import { test } from "node:test";
import { complaintAbout, keepsUp, type Measured } from "./latency.ts";

const options = { rate: 1000, seconds: 2 };
const right: Measured = {
  ...{ sent: 4000, received: 4000, doubled: 0, wrong: 0 },
  ...{ p50: 50, p99: 90, max: 95, p50OfHalves: [50, 51] },
};

test("every record is to come once, as it was", () => {
  assert.equal(complaintAbout(right, options), undefined);
  assert.equal(complaintAbout({ ...right, received: 3998, doubled: 1 }, options), "2 missing, 1 doubled");
  assert.equal(complaintAbout({ ...right, wrong: 3 }, options), "3 wrong");
});

test("a measurement at less than the rate is none", () => {
  assert.match(complaintAbout({ ...right, sent: 3000, received: 3000 }, options)!, /only 3000 of 4000/);
});

test("latency that grows while records come in is a backlog", () => {
  assert.equal(keepsUp(right, 50), true);
  assert.equal(keepsUp({ ...right, p50OfHalves: [500, 1500] }, 1000), false);
  assert.equal(keepsUp({ ...right, p50OfHalves: [20_000, 19_000] }, 50), false);
});
