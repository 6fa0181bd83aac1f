import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { days, hours } from "../pipeline/durations.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { isPast, windowsAt } from "./windows.ts";

const assigner = fc
  .record({
    size: fc.integer({ min: 1, max: 50 }),
    every: fc.integer({ min: 1, max: 50 }),
    offset: fc.integer({ min: -49, max: 49 }),
  })
  .map(({ size, every, offset }) => {
    const distance = Math.min(size, every);
    return { ...sliding({ size, every: distance, offset: offset % distance }), given: offset % distance };
  });

/** Starts of all windows with `start <= time < start + size`, found by trying, with the offset as it was given. */
function startsAt(window: { sizeMs: number; everyMs: number; given: number }, time: number): number[] {
  const starts: number[] = [];
  for (let start = time - window.sizeMs + 1; start <= time; start++) {
    if ((start - window.given) % window.everyMs === 0) starts.push(start + 0);
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

test("days that begin at midnight in Shanghai, 8 hours ahead of UTC", () => {
  const day = tumbling(days(1), { offset: hours(-8) });
  const startOf = (time: string) => new Date(windowsAt(day, Date.parse(time)).first).toISOString();
  assert.equal(startOf("2024-03-01T15:59:59.999Z"), "2024-02-29T16:00:00.000Z");
  assert.equal(startOf("2024-03-01T16:00:00.000Z"), "2024-03-01T16:00:00.000Z");
  assert.equal(startOf("1969-12-31T15:59:59.999Z"), "1969-12-30T16:00:00.000Z");
  assert.equal(startOf("1970-01-01T00:00:00.000Z"), "1969-12-31T16:00:00.000Z");
  assert.ok(Object.is(windowsAt(tumbling(10, { offset: -3 }), 0).first, -3));
  assert.ok(Object.is(windowsAt(tumbling(10), 0).first, 0));
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
