import assert from "node:assert/strict";
import { test } from "node:test";
import { allVisible, firstVisible } from "./visible.ts";

const visible = [
  { at: 10, offsets: [0, 0] },
  { at: 20, offsets: [1, 0] }, // a marker of an aborted transaction, say
  { at: 30, offsets: [2, 0] },
  { at: 40, offsets: [2, 5] },
];

test("a record is visible once the end is behind it", () => {
  assert.equal(firstVisible(visible, [1, 0]), 30);
  assert.equal(firstVisible(visible, [-1, 0]), 40);
  assert.equal(allVisible(visible, [1, -1]), 30);
  assert.equal(allVisible(visible, [1, 4]), 40);
});

test("what never was visible has no time", () => {
  assert.equal(firstVisible(visible, [-1, -1]), Number.NaN);
  assert.equal(allVisible(visible, [1, 5]), Number.NaN);
});
