import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { noProgress, type Progress } from "../local/options.ts";
import { renderBar } from "./progress.ts";

const start: Progress = { ...noProgress, end: 100_000_000 };

function render(progress: Partial<Progress>, columns: number, first = start): string[] {
  return renderBar("access-log", { ...start, ...progress }, first, columns).map(stripVTControlCharacters);
}

const middle = {
  records: 1_234_567,
  bytes: 62_000_000,
  epochs: 45,
  position: 62_000_000,
  watermark: 1_431_857_103_000,
  elapsedMs: 20_000,
};

test("at 80 columns all is there", () => {
  assert.deepEqual(render(middle, 80), [
    "access-log  ━━━━━━━━━━━━━━━━━━━━────────────   62%  0:20, about 0:12 left",
    "1,234,567 records  62 MB  lag 38 MB  45 epochs  watermark 2015-05-17 10:05:03Z",
  ]);
});

test("no line is ever longer than the terminal is wide", () => {
  const columns = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(columns, fc.nat(), fc.nat(), fc.nat(), (width, records, position, elapsedMs) => {
      const lines = render({ ...middle, records, position, elapsedMs, end: 2 ** 31 }, width);
      assert.ok(lines.every((line) => line.length < width));
    }),
  );
});

test("only all of it is 100%, and then nothing is left", () => {
  assert.match(render({ position: 99_999_999, elapsedMs: 1000 }, 80)[0]!, / 99% .*left$/);
  assert.match(render({ position: 100_000_000, elapsedMs: 1000 }, 80)[0]!, / 100% {2}0:01$/);
  assert.match(render({ position: 0, end: 0 }, 80)[0]!, / 100% /);
});

test("the time that is left follows from this run's pace, not from what earlier runs have read", () => {
  const first = { ...start, position: 80_000_000, elapsedMs: 1_000 };
  assert.match(render({ position: 90_000_000, elapsedMs: 11_000 }, 80, first)[0]!, /about 0:10 left/);
  assert.doesNotMatch(render({ position: 80_000_000, elapsedMs: 1_000 }, 80, first)[0]!, /left/);
});
