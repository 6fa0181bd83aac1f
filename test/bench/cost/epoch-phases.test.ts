import assert from "node:assert/strict";
import { test } from "node:test";
import { covered, partsOf, phasesOf } from "./epoch-phases.ts";

const base = Date.parse("2026-01-01T00:00:00.000Z");
const logged = (at: number, tookMs: number, line: object) => ({
  timestamp: base + at,
  message: JSON.stringify({ timestamp: new Date(base + at).toISOString(), tookMs, ...line }),
});

/** Of an epoch with two tasks in its first stage. */
const epochAt = (epoch: number, at: number) => [
  logged(at + 30, 30, { function: "plan", answer: { action: "work", process: { epoch } } }),
  logged(at + 90, 50, { function: "operate", epoch, stage: 0, task: 0 }),
  logged(at + 100, 55, { function: "operate", epoch, stage: 0, task: 1 }),
  logged(at + 120, 10, { function: "decide", epoch }),
  logged(at + 200, 20, { function: "commit", epoch, sink: "out" }),
  logged(at + 230, 10, { function: "commit", epoch }),
];

test("phases and the waits before them are medians of the epochs that went by plan", () => {
  const torn = epochAt(3, 2000).slice(0, 3);
  const parts = partsOf([
    { timestamp: 0, message: "START" },
    logged(10, 5, { function: "plan", answer: { action: "wait" } }),
    ...epochAt(1, 0),
    ...epochAt(2, 1000),
    ...torn,
    ...epochAt(9, 9000),
  ]);
  const requests = [
    { from: base + 5, to: base + 15 },
    { from: base + 1005, to: base + 1015 },
  ];
  assert.deepEqual(
    phasesOf(parts, requests, (epoch) => epoch < 9).map(({ phase, waitMs, tookMs, servicesMs }) => [
      phase,
      waitMs,
      tookMs,
      servicesMs,
    ]),
    [
      ["plan", 0, 30, 10],
      ["operate, stage 0", 10, 60, 0],
      ["decide", 10, 10, 0],
      ["commit", 60, 20, 0],
      ["seal", 20, 10, 0],
    ],
  );
});

test("without an epoch there are no phases", () => {
  assert.deepEqual(
    phasesOf([], [], () => true),
    [],
  );
});

test("requests that overlap count once, and only as far as they lie within", () => {
  const spans = [
    { from: 8, to: 12 },
    { from: 11, to: 15 },
    { from: 0, to: 3 },
    { from: 18, to: 30 },
  ];
  assert.equal(covered({ from: 10, to: 20 }, spans), 5 + 2);
});
