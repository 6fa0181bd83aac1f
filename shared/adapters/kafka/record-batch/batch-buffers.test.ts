import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchBuffers } from "./batch-buffers.ts";

test("a buffer that was given back is used again, for what fits in its size", () => {
  const buffers = new BatchBuffers();
  const one = buffers.take(5000);
  const other = buffers.take(5000);
  assert.ok(one.length >= 5000);
  assert.notEqual(one.buffer, other.buffer);
  buffers.give(one);
  assert.equal(buffers.take(4500), one);
  buffers.give(one);
  assert.notEqual(buffers.take(100), one);
  assert.notEqual(buffers.take(one.length + 1), one);
  assert.equal(buffers.take(one.length), one);
});

test("a batch of a round size and a bit more fit in a buffer of that size", () => {
  const { length } = new BatchBuffers().take(256 * 1024);
  assert.equal(new BatchBuffers().take(256 * 1024 + 8000).length, length);
});

test("what is kept has a limit", () => {
  const buffers = new BatchBuffers();
  const taken = Array.from({ length: 200 }, () => buffers.take(1024 * 1024));
  for (const one of taken) buffers.give(one);
  const again = new Set(Array.from({ length: 200 }, () => buffers.take(1024 * 1024)));
  const kept = taken.filter((one) => again.has(one)).length;
  assert.ok(kept > 10 && kept <= 64, String(kept));
});
