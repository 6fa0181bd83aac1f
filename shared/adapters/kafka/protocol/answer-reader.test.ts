import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AnswerMemory } from "./answer-memory.ts";
import { AnswerReader } from "./answer-reader.ts";
import { Encoder } from "./kafkajs-modules.ts";

const framed = (correlationId: number, body: Uint8Array): Buffer =>
  new Encoder(body.length + 8)
    .writeInt32(body.length + 4)
    .writeInt32(correlationId)
    .writeBuffer(Buffer.from(body)).buffer;

test("answers come whole and in order, however the bytes are cut", () => {
  const answers = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.uint8Array({ maxLength: 40 })));
  fc.assert(
    fc.property(answers, fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (given, cuts) => {
      const bytes = Buffer.concat(given.map(([id, body]) => framed(id, body)));
      const found: [number, Buffer][] = [];
      const reader = new AnswerReader(new AnswerMemory(), (id, body) => found.push([id, Buffer.from(body)]));
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const size = cuts[cut % cuts.length]!;
        // A socket's memory may be used again.
        const chunk = Buffer.from(bytes.subarray(at, at + size));
        reader.push(chunk);
        chunk.fill(0xff);
        at += size;
      }
      assert.deepEqual(
        found,
        given.map(([id, body]) => [id, Buffer.from(body)]),
      );
    }),
  );
});

test("what cannot be the size of an answer is refused", () => {
  for (const size of [-1, 0, 3, 2 ** 30 + 1])
    assert.throws(
      () => new AnswerReader(new AnswerMemory(), () => {}).push(new Encoder(4).writeInt32(size).buffer),
      /answer of -?\d+ bytes/,
    );
});
