import assert from "node:assert/strict";
import { test } from "node:test";
import { minutes, seconds } from "./durations.ts";
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
