import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadingMemory } from "./reading-memory.ts";

test("memory that was given back is used again, by one at a time, and is never too small", () => {
  const memory = new ReadingMemory();
  const one = memory.take(1000);
  const other = memory.take(1000);
  assert.notEqual(one, other);
  assert.ok(one.length >= 1000);
  memory.give(one);
  assert.equal(memory.take(900), one);
  memory.give(one);
  const larger = memory.take(one.length + 1);
  assert.ok(larger.length > one.length);
  memory.give(larger);
  memory.give(other);
  assert.equal(memory.take(1), larger);
});

test("very much memory is not kept", () => {
  const memory = new ReadingMemory();
  const much = memory.take(80 * 1024 * 1024);
  memory.give(much);
  assert.notEqual(memory.take(1), much);
});
