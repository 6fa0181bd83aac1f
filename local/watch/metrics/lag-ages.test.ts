import assert from "node:assert/strict";
import { test } from "node:test";
import { LagAges } from "./lag-ages.ts";

test("what is not processed has the age of the first end above it", () => {
  const ages = new LagAges();
  assert.equal(ages.ageOf("p", 0, 1000), 0);
  ages.look("p", 100, 1000);
  ages.look("p", 100, 2000);
  ages.look("p", 150, 3000);
  assert.equal(ages.ageOf("p", 0, 5000), 4000);
  assert.equal(ages.ageOf("p", 99, 5000), 4000);
  assert.equal(ages.ageOf("p", 100, 5000), 2000);
  assert.equal(ages.ageOf("p", 150, 5000), 0);
  ages.look("p", 160, 6000);
  assert.equal(ages.ageOf("p", 150, 6500), 500);
  assert.equal(ages.ageOf("other", 0, 6500), 0);
});

test("however long it waits, the age is never too small, and the memory is bounded", () => {
  const ages = new LagAges();
  for (let high = 1; high <= 100_000; high++) ages.look("p", high, high);
  assert.equal(ages.ageOf("p", 0, 100_000), 99_999);
  for (const position of [10_000, 70_000, 99_999]) {
    const age = ages.ageOf("p", position, 100_000);
    assert.ok(age >= 100_000 - (position + 1), `${age} at ${position}`);
  }
});
