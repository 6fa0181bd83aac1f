import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Bar, extentOf, layOut, newestToShow, spanToShow, ticksOf, visibleBars } from "./client/timeline.ts";
import type { EpochData } from "./page-data.ts";

function epochAt(epoch: number, plannedAt: number, took = 100): EpochData {
  const [decidedAt, committedAt] = [plannedAt + took, plannedAt + took + 50];
  return {
    ...{ epoch, status: "committed", attempt: 1, failures: 0, plannedAt, decidedAt, committedAt },
    phases: [
      { phase: "operate", from: plannedAt, to: decidedAt },
      { phase: "commit", from: decidedAt, to: committedAt },
    ],
    tasks: [{ stage: 0, task: 0, from: plannedAt, to: decidedAt, records: 1 }],
    ...{ counts: null, watermark: null, left: 0, stateBytes: null, error: null },
  };
}
const quiet = { incidents: [], uncommitted: null };

test("phases, tasks and commits have lanes of their own; of many tasks the last ones share one", () => {
  const { lanes, bars } = layOut([epochAt(1, 1000)], quiet, 2000);
  assert.deepEqual(
    lanes.map(({ title }) => title),
    ["epochs", "task 0", "commits", "waits, aborts"],
  );
  assert.deepEqual(
    bars.map(({ lane, kind, from, to }) => [lane, kind, from, to]),
    [
      [0, "operate", 1000, 1100],
      [2, "commit", 1100, 1150],
      [1, "stage-0", 1000, 1100],
    ],
  );
  const many = {
    ...epochAt(1, 1000),
    tasks: Array.from({ length: 12 }, (_, task) => ({ stage: 1, task, from: 0, to: 1, records: 0 })),
  };
  const wide = layOut([many], quiet, 2000);
  assert.equal(wide.lanes.length, 11);
  assert.equal(wide.lanes[8]!.title, "tasks 7–11");
  assert.ok(wide.bars.every(({ lane }) => lane < wide.lanes.length));
});

test("what goes on ends now; what is aborted has no length that anybody knows", () => {
  const open = {
    ...epochAt(1, 1000),
    status: "planned" as const,
    phases: [{ phase: "operate" as const, from: 1000, to: null }],
  };
  assert.deepEqual(layOut([open], quiet, 1700).bars[0], {
    ...{ lane: 0, from: 1000, to: 1700, kind: "operate", epoch: 1, open: true },
    title: "epoch 1: tasks, 700 ms so far",
  });
  assert.equal(layOut([{ ...open, status: "aborted" }], quiet, 1700).bars[0]!.to, 1000);
});

test("shown is the last stretch of work, and not the pause of hours before it", () => {
  const epochs = [epochAt(1, 0), epochAt(2, 1000), epochAt(3, 7_200_000), epochAt(4, 7_201_000)];
  assert.ok(spanToShow(epochs) < 2000);
  assert.deepEqual(extentOf(epochs), { from: 0, to: 7_201_150 });
  assert.equal(extentOf([]), undefined);
});

test("bars lie within the picture, none is thinner than a pixel, and there are no more than pixels", () => {
  const bar = fc.record({
    lane: fc.nat(3),
    from: fc.integer({ min: -5000, max: 100_000 }),
    length: fc.nat(3000),
    kind: fc.constantFrom("operate", "commit"),
  });
  fc.assert(
    fc.property(
      fc.array(bar, { maxLength: 400 }),
      fc.integer({ min: 1, max: 50_000 }),
      fc.integer({ min: 50, max: 400 }),
      (given, length, width) => {
        const bars = given.map(({ length: took, ...one }): Bar => ({ ...one, to: one.from + took, title: "" }));
        const drawn = visibleBars(bars, { from: 0, to: length }, width);
        for (const one of drawn) {
          assert.ok(
            one.x >= 0 && one.x <= width && one.width >= 1 && one.x + one.width <= width + 1.01,
            JSON.stringify(one),
          );
          assert.ok(one.from <= length && one.to >= 0);
        }
        const thin = drawn.filter((one) => one.width === 1);
        assert.ok(thin.length <= 4 * 2 * (width + 1) * 2);
      },
    ),
  );
});

test("ticks are round times, neither too many nor none", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 40 * 86_400_000 }),
      fc.integer({ min: 0, max: 2e12 }),
      fc.integer({ min: 220, max: 2000 }),
      (length, from, width) => {
        const ticks = ticksOf({ from, to: from + length }, width);
        assert.ok(ticks.length <= width / 110 + 2, `${ticks.length}`);
        for (const { at, label } of ticks) {
          assert.ok(at >= from && at <= from + length);
          assert.match(label, /^(\d\d:\d\d:\d\d(\.\d{3})?|\d{4}-\d\d-\d\d)$/);
        }
      },
    ),
  );
});

test("a run that has nothing to do shows its last work, and not an empty timeline", () => {
  const epochs = [epochAt(1, 1000), epochAt(2, 1200)];
  assert.equal(newestToShow(epochs, 1400, 1000), 1400);
  assert.equal(newestToShow(epochs, 60_000, 1000), 1350);
  const atWork = { ...epochAt(3, 2000), status: "planned" as const, decidedAt: null, committedAt: null };
  assert.equal(newestToShow([...epochs, atWork], 60_000, 1000), 60_000);
  assert.equal(newestToShow([], 60_000, 1000), 60_000);
});
