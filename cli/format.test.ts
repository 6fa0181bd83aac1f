import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "./format.ts";

test("counts", () => {
  assert.equal(format.formatCount(1_234_567), "1,234,567");
  assert.equal(format.formatCounted(1, "record"), "1 record");
  assert.equal(format.formatCounted(0, "record"), "0 records");
});

test("bytes have three digits and the unit that keeps them below a thousand", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [2_370_789, "2.37 MB"],
    [999_499, "999 kB"],
    [999_600, "1 MB"],
    [5e18, "5,000 PB"],
  ];
  for (const [bytes, text] of cases) assert.equal(format.formatBytes(bytes), text);
});

test("durations have two units at most, and never sixty of one", () => {
  const cases: [number, string][] = [
    [0, "0 ms"],
    [999, "999 ms"],
    [999.7, "1.0 s"],
    [59_900, "59.9 s"],
    [59_960, "1 min 00 s"],
    [3_599_600, "1 h 00 min"],
    [7_500_000, "2 h 05 min"],
    [86_399_000, "1 d 0 h"],
    [100 * 3_600_000, "4 d 4 h"],
    [100 * 86_400_000 + 3_600_000, "100 d"],
  ];
  for (const [ms, text] of cases) assert.equal(format.formatDuration(ms), text);
});

test("clocks", () => {
  assert.equal(format.formatClock(0), "0:00");
  assert.equal(format.formatClock(61_000), "1:01");
  assert.equal(format.formatClock(3_723_000), "1:02:03");
});

test("instants are in UTC; what no date can hold is shown as it is", () => {
  assert.equal(format.formatInstant(1_431_857_103_999), "2015-05-17 10:05:03Z");
  assert.equal(format.formatInstant(null), "none yet");
  assert.equal(format.formatInstant(1e300), "1e+300 ms");
});

test("a table aligns columns, and a cell may have several lines", () => {
  const columns = [{ title: "n", align: "right" as const }, { title: "name" }, { title: "x" }];
  const rows = [
    ["1", "a", "x"],
    ["100", "long\nlonger", ""],
  ];
  const expected = ["  n  name    x", "  1  a       x", "100  long", "     longer"];
  assert.deepEqual(format.formatTable(columns, rows).split("\n"), expected);
});

test("fields stand below each other, with the lines of one", () => {
  const text = format.formatFields([
    ["a", "1"],
    ["long", "2\n3"],
  ]);
  assert.equal(text, "a     1\nlong  2\n      3");
});

test("of many lines the first ones", () => {
  assert.equal(format.formatSome([], 2), "none");
  assert.equal(format.formatSome(["a", "b"], 2), "a\nb");
  assert.equal(format.formatSome(["a", "b", "c", "d"], 2), "a\nb\nand 2 more");
});
