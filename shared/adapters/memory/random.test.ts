import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "../system/random.ts";
import { SeededRandom } from "./random.ts";

test("nonces are 20 letters and digits, and differ", () => {
  for (const random of [systemRandom, new SeededRandom(1)]) {
    const nonces = Array.from({ length: 2000 }, () => random.nonce());
    assert(nonces.every((one) => /^[a-z0-9]{20}$/.test(one)));
    assert.equal(new Set(nonces).size, nonces.length);
    assert.equal(new Set(nonces.join("")).size, 36);
  }
});

test("SeededRandom: a seed gives the same chance, another seed another", () => {
  const many = (seed: number) => {
    const random = new SeededRandom(seed);
    return Array.from({ length: 1000 }, () => random.below(10));
  };
  assert.deepEqual(many(1), many(1));
  assert.notDeepEqual(many(1), many(2));
  const counts = Map.groupBy(many(3), (one) => one);
  for (let digit = 0; digit < 10; digit++) assert((counts.get(digit)?.length ?? 0) > 50, `${digit} is rare`);
});
