import assert from "node:assert/strict";
import { test } from "node:test";
import { files, pipeline, text } from "../index.ts";
import { days, hours, minutes, seconds } from "./durations.ts";
import { checkWindow, sliding, tumbling } from "./windows.ts";

test("windows are plain data", () => {
  assert.deepEqual(tumbling(seconds(10)), { kind: "tumbling", sizeMs: 10_000, everyMs: 10_000 });
  const uneven = { kind: "sliding", sizeMs: 60_000, everyMs: 7_000 };
  assert.deepEqual(sliding({ size: minutes(1), every: seconds(7) }), uneven);
});

test("a window has a size, and leaves no gaps", () => {
  for (const size of [0, -1, 0.5, Number.NaN, undefined as never]) {
    assert.throws(() => tumbling(size), { code: "invalid-duration" });
    assert.throws(() => sliding({ size: 10, every: size }), { code: "invalid-duration" });
  }
  assert.throws(() => sliding({ size: 10, every: 11 }), { code: "invalid-window" });
  assert.throws(() => sliding({ size: 10, evry: 5 } as never), { message: /Did you mean "every"/ });
  assert.throws(() => checkWindow(seconds(10) as never), { code: "invalid-window" });
});

test("an offset is kept as the one at or after 0 that means the same windows", () => {
  const day = { kind: "tumbling", sizeMs: days(1), everyMs: days(1) };
  for (const offset of [hours(-8), hours(16)]) {
    assert.deepEqual(tumbling(days(1), { offset }), { ...day, offsetMs: hours(16) });
    // As plain data, too.
    assert.deepEqual(checkWindow({ ...tumbling(days(1)), offsetMs: offset }), { ...day, offsetMs: hours(16) });
  }
  assert.deepEqual(sliding({ size: hours(2), every: hours(1), offset: minutes(-15) }).offsetMs, minutes(45));
  // None leaves no trace: state of pipelines that have none goes on.
  for (const options of [{}, { offset: 0 }, { offset: -0 }]) assert.deepEqual(tumbling(days(1), options), day);
});

test("an offset is smaller than the distance of two starts", () => {
  for (const offset of [days(1), days(-1), days(2)]) {
    assert.throws(() => tumbling(days(1), { offset }), { code: "invalid-window", message: /smaller than its size/ });
  }
  assert.throws(() => sliding({ size: 10, every: 5, offset: 5 }), { message: /smaller than its "every", 5 ms/ });
  assert.throws(() => sliding({ size: 10, every: 5, offset: 0.5 }), { code: "invalid-duration" });
  assert.throws(() => tumbling(10, { offset: Number.NaN }), { code: "invalid-duration" });
  assert.throws(() => tumbling(10, { ofset: 5 } as never), { message: /Did you mean "offset"/ });
});

test("no other duration may be negative", () => {
  const source = { path: "in", value: text() };
  assert.throws(() => files.source({ ...source, outOfOrder: seconds(-1) }), { code: "invalid-duration" });
  assert.throws(() => files.source({ ...source, idleAfter: seconds(-1) }), { code: "invalid-duration" });
  const keyed = pipeline("test")
    .from(files.source(source))
    .keyBy((line) => line);
  assert.throws(() => keyed.window(tumbling(10), { allowedLateness: seconds(-1) }), { code: "invalid-duration" });
  assert.throws(() => tumbling(seconds(-1)), { code: "invalid-duration" });
});
