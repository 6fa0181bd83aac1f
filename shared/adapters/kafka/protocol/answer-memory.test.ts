import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AnswerMemory } from "./answer-memory.ts";

const kibibyte = 1024;

const lent = (memory: AnswerMemory, size: number): Buffer => {
  const answer = memory.take(size);
  memory.lend(answer);
  return answer;
};

test("memory that was given back is used again, and only then", () => {
  const memory = new AnswerMemory();
  const first = lent(memory, 100 * kibibyte);
  const second = lent(memory, 100 * kibibyte);
  assert.notEqual(second.buffer, first.buffer);
  memory.giveBack(first);
  assert.equal(memory.take(90 * kibibyte).buffer, first.buffer);
});

test("an answer whose parts are lent is free when all are given back", () => {
  const memory = new AnswerMemory();
  const answer = memory.take(100 * kibibyte);
  const parts = [answer.subarray(0, 10), answer.subarray(10, 90), answer.subarray(90)];
  for (const part of parts) memory.lend(part);
  memory.giveBack(parts[0]!);
  memory.giveBack(parts[0]!);
  memory.giveBack(parts[2]!);
  assert.notEqual(memory.take(50 * kibibyte).buffer, answer.buffer);
  memory.giveBack(parts[1]!);
  assert.equal(memory.take(50 * kibibyte).buffer, answer.buffer);
});

test("what is given back twice is free once", () => {
  const memory = new AnswerMemory();
  const answer = lent(memory, 100 * kibibyte);
  memory.giveBack(answer);
  memory.giveBack(answer);
  assert.notEqual(memory.take(50 * kibibyte).buffer, memory.take(50 * kibibyte).buffer);
});

test("what was not lent is left alone", () => {
  const memory = new AnswerMemory();
  const others = [Buffer.alloc(100 * kibibyte), memory.take(100), memory.take(100 * kibibyte), Buffer.alloc(0)];
  memory.lend(others[0]!);
  for (const other of others) memory.giveBack(other);
  assert.ok(others.every(({ buffer }) => memory.take(40 * kibibyte).buffer !== buffer));
});

test("little is kept", () => {
  const memory = new AnswerMemory();
  const large = lent(memory, 64 * 1024 * kibibyte);
  memory.giveBack(large);
  assert.notEqual(memory.take(40 * kibibyte).buffer, large.buffer);
});

test("parts keep what was written into them until they are given back", () => {
  const step = fc.oneof(
    fc.record({
      size: fc.oneof(fc.nat({ max: 100 }), fc.integer({ min: 30_000, max: 3_000_000 })),
      parts: fc.nat({ max: 4 }),
    }),
    fc.record({ giveBack: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const memory = new AnswerMemory();
      const lent: { readonly part: Buffer; readonly mark: number }[] = [];
      for (const [mark, step] of steps.entries()) {
        if ("size" in step) {
          const answer = memory.take(step.size);
          assert.equal(answer.length, step.size);
          const bytes = Math.floor(step.size / Math.max(1, step.parts));
          for (let part = 0; part < step.parts; part++)
            lent.push({ part: marked(answer.subarray(part * bytes, (part + 1) * bytes), mark), mark });
          for (const { part, mark: of } of lent) if (of === mark) memory.lend(part);
        } else if (lent.length > 0) {
          const [{ part }] = lent.splice(step.giveBack % lent.length, 1) as [(typeof lent)[number]];
          memory.giveBack(part);
        }
        for (const { part, mark: of } of lent) assert.ok(isMarked(part, of));
      }
    }),
    { numRuns: 50 },
  );
});

function marked(part: Buffer, mark: number): Buffer {
  part.fill(mark, 0, Math.min(8, part.length));
  part.fill(mark, Math.max(0, part.length - 8));
  return part;
}

const isMarked = (part: Buffer, mark: number) => part.length === 0 || (part[0] === mark && part.at(-1) === mark);
