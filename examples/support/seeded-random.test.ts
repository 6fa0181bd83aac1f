import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "./seeded-random.ts";

test("a seed repeats its numbers, which are spread over [0, 1)", () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 10_000 }, () => random.next());
  };
  const numbers = draw(7);
  assert.deepEqual(numbers, draw(7));
  assert.notDeepEqual(numbers, draw(8));
  assert.ok(numbers.every((number) => number >= 0 && number < 1));
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02, `${mean}`);
});

test("between includes both ends", () => {
  const random = seededRandom(1);
  const drawn = new Set(Array.from({ length: 200 }, () => random.between(3, 5)));
  assert.deepEqual([...drawn].sort(), [3, 4, 5]);
});

test("pick follows its weights", () => {
  const random = seededRandom(1);
  const drawn = Array.from({ length: 3000 }, () => random.pick(["often", "seldom", "never"], [9, 1, 0]));
  const seldom = drawn.filter((item) => item === "seldom").length;
  assert.ok(!drawn.includes("never"));
  assert.ok(seldom > 200 && seldom < 400, `${seldom}`);
});

test("poisson has its mean", () => {
  const random = seededRandom(1);
  const total = Array.from({ length: 3000 }, () => random.poisson(2.5)).reduce((sum, count) => sum + count, 0);
  assert.ok(Math.abs(total / 3000 - 2.5) < 0.1, `${total / 3000}`);
});
