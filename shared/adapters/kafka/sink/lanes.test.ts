import assert from "node:assert/strict";
import { test } from "node:test";
import { checkUnit, laneUnits } from "./lanes.ts";

const place = { pipeline: "p", uid: "u", sink: "out", epoch: 3 };
const unit = { token: "t", previous: null, marker: { topic: "markers", id: null }, staged: [] };

test("a unit whose marker is on another topic than the sink's is not committed: that one would know nothing of it", () => {
  assert.equal(checkUnit(place, "lane-0", unit, undefined, "markers"), unit);
  assert.throws(() => checkUnit(place, "lane-0", unit, undefined, "others"), { code: "kafka-other-topic" });
});

test("a topic that was made anew between two tasks has no id that holds for both", () => {
  const range = { object: "o", start: 0, bytes: 1, digest: "d", topics: [] };
  const task = (number: number, id: string) => ({
    stage: 0,
    task: number,
    handle: { marker: { topic: "out", id }, lanes: [{ lane: 0, range }] },
  });
  const decision = { epoch: 3, token: "t", previous: () => null };
  const ids = (...tasks: ReturnType<typeof task>[]) => laneUnits(tasks, decision).map((one) => one.unit.marker.id);
  assert.deepEqual(ids(task(0, "a"), task(1, "a")), ["a"]);
  assert.deepEqual(ids(task(0, "a"), task(1, "b")), [null]);
});
