import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./verdict.ts";

const growth = (...figures: number[]) => judge("keys", { what: "CPU a record", mostGrowth: 2 }, figures);

test("growth is that of the worst pair, whatever lies between", () => {
  assert.deepEqual(growth(4, 1, 2), { dimension: "keys", what: "CPU a record", mostGrowth: 2, found: 2, holds: true });
  assert.equal(growth(4, 1, 3, 1).holds, false);
  assert.equal(growth(4, 1, 3, 1).found, 3);
  assert.equal(growth(3, 2, 1).found, 1);
});

test("what is not there does not hold", () => {
  assert.equal(growth(1, Number.NaN).holds, false);
  assert.equal(growth(Number.NaN).holds, true);
  assert.equal(growth(0, 0).holds, true);
  assert.equal(growth(0, 1).holds, false);
});

test("a limit is one for every point", () => {
  const most = (...figures: number[]) => judge("keys", { what: "peak memory", most: 10 }, figures);
  assert.equal(most(1, 10, 2).holds, true);
  assert.equal(most(1, 11, 2).holds, false);
  assert.equal(most(1, 11, 2).found, 11);
});
