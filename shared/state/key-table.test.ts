import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hashKey } from "./key-codec.ts";
import { KeyTable } from "./key-table.ts";

test("numbers keys as a Map does, in order of insertion", () => {
  const texts = fc.array(fc.oneof(fc.string({ maxLength: 3 }), fc.string({ minLength: 30, maxLength: 70 })), {
    maxLength: 300,
  });
  // Few hashes: collisions must be told apart by the bytes.
  fc.assert(
    fc.property(texts, fc.constantFrom(0xffffffff, 3, 0), (keys, mask) => {
      const table = new KeyTable();
      const model = new Map<string, number>();
      for (const key of keys) {
        const expected = model.get(key) ?? model.size;
        model.set(key, expected);
        const bytes = Buffer.from(`[${key}]`);
        const end = bytes.length - 1;
        assert.equal(table.locate(hashKey(bytes, 1, end) & mask, bytes, 1, end), expected);
      }
      assert.equal(table.count, model.size);
      const listed = Array.from({ length: table.count }, (_, at) =>
        table.bytes.toString("utf8", table.ends[at], table.ends[at + 1]),
      );
      assert.deepEqual(
        listed,
        [...model.keys()].map((key) => Buffer.from(key).toString("utf8")),
      );
    }),
  );
});
