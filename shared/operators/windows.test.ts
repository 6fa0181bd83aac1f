import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isPast, windowsAt } from "./windows.ts";

const assigner = fc
  .record({ sizeMs: fc.integer({ min: 1, max: 50 }), everyMs: fc.integer({ min: 1, max: 50 }) })
  .map(({ sizeMs, everyMs }) => ({ kind: "sliding" as const, sizeMs, everyMs: Math.min(sizeMs, everyMs) }));

/** Starts of all windows with `start <= time < start + size`, found by trying. */
function startsAt(window: { sizeMs: number; everyMs: number }, time: number): number[] {
  const starts: number[] = [];
  for (let start = time - window.sizeMs + 1; start <= time; start++) {
    if (start % window.everyMs === 0) starts.push(start + 0);
  }
  return starts;
}

test("a time lies in the windows that contain it, before 1970 too", () => {
  fc.assert(
    fc.property(assigner, fc.integer({ min: -200, max: 200 }), (window, time) => {
      const { first, last, from, until } = windowsAt(window, time);
      const starts: number[] = [];
      for (let start = first; start <= last; start += window.everyMs) starts.push(start);
      assert.deepEqual(starts, startsAt(window, time));
      assert.ok(from <= time && time < until);
      // The range of times is exactly that with the same windows.
      assert.deepEqual(startsAt(window, from), starts);
      assert.deepEqual(startsAt(window, until - 1), starts);
      assert.notDeepEqual(startsAt(window, from - 1), starts);
      assert.notDeepEqual(startsAt(window, until), starts);
    }),
  );
});

test("the first and the last millisecond that a Date knows", () => {
  const day = { kind: "tumbling" as const, sizeMs: 86_400_000, everyMs: 86_400_000 };
  assert.equal(windowsAt(day, 8.64e15).first, 8.64e15);
  assert.equal(windowsAt(day, -8.64e15).first, -8.64e15);
});

test("a window is past when its end and the allowed lateness are not after the watermark", () => {
  assert.equal(isPast(null, 10, 0), false);
  assert.equal(isPast(9, 10, 0), false);
  assert.equal(isPast(10, 10, 0), true);
  assert.equal(isPast(14, 10, 5), false);
  assert.equal(isPast(15, 10, 5), true);
});
