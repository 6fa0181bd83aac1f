import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { days, formatDuration, hours, milliseconds, minutes, seconds } from "./durations.ts";

test("durations are milliseconds", () => {
  assert.deepEqual([milliseconds(5), seconds(5), minutes(5), hours(5), days(5)], [5, 5e3, 3e5, 18e6, 432e6]);
  assert.equal(seconds(0.07), 70);
  assert.equal(seconds(0), 0);
  assert.equal(hours(-8), -28_800_000);
  assert.equal(Object.is(seconds(-0), 0), true);
});

test("what is not a whole number of milliseconds is refused", () => {
  for (const amount of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "5" as never, undefined as never]) {
    assert.throws(() => milliseconds(amount), { code: "invalid-duration" });
  }
  assert.throws(() => seconds(1 / 3), { code: "invalid-duration" });
});

test("a duration for people names every unit that it has", () => {
  assert.equal(formatDuration(0), "0 seconds");
  assert.equal(formatDuration(1), "1 millisecond");
  assert.equal(formatDuration(hours(1)), "1 hour");
  assert.equal(formatDuration(minutes(90)), "1 hour 30 minutes");
  assert.equal(formatDuration(days(2) + seconds(1) + 5), "2 days 1 second 5 milliseconds");
});

test("different durations read differently", () => {
  const duration = fc.integer({ min: 0, max: days(1000) });
  fc.assert(fc.property(duration, duration, (a, b) => (a === b) === (formatDuration(a) === formatDuration(b))));
});
