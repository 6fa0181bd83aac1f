import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Key, KeyPart } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { encodeKey } from "../state/key-codec.ts";
import { valuesOf } from "./column-rows.ts";
import { ResultKeys } from "./result-keys.ts";

const text = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ minLength: 30, maxLength: 60 }),
);
const part = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.bigInt());
const key: fc.Arbitrary<Key> = fc.oneof(part, fc.array<KeyPart>(part, { maxLength: 3 }));

const endOf = (writer: ByteWriter) => (key: Key) => {
  encodeKey(writer, key);
  return writer.length;
};

test("keys come out as they went in, batch after batch: texts as bytes, and all as they are where one is none", () => {
  const batch = fc.oneof(fc.array(text, { maxLength: 20 }), fc.array(key, { maxLength: 20 }));
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 4 }), fc.array(fc.nat(20)), fc.boolean(), (batches, cuts, atOnce) => {
      const keys = new ResultKeys(20);
      for (const batch of batches) {
        keys.clear();
        const writer = new ByteWriter();
        writer.utf8("beside");
        const ends = Int32Array.of(writer.length, ...batch.map(endOf(writer)));
        const inner = cuts.filter((cut) => cut < batch.length).sort((one, other) => one - other);
        for (const [index, from] of [0, ...inner].entries()) {
          const to = inner[index] ?? batch.length;
          if (atOnce) keys.addAll(writer.bytes, ends, from, to);
          else for (let key = from; key < to; key++) keys.add(writer.bytes, ends[key]!, ends[key + 1]!);
        }
        assert.equal(
          "ends" in keys.column,
          batch.every((key) => typeof key === "string"),
        );
        assert.deepEqual(
          [...(valuesOf(keys.column, batch.length) as Key[])],
          batch.map((key) =>
            Object.is(key, -0) ? 0 : Array.isArray(key) ? key.map((part) => (Object.is(part, -0) ? 0 : part)) : key,
          ),
        );
      }
    }),
  );
});
