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
        const known = model.get(key);
        const expected = known ?? model.size;
        model.set(key, expected);
        const bytes = Buffer.from(`[=${key}]`);
        const end = bytes.length - 1;
        const hash = hashKey(bytes, 1, end) & mask;
        assert.equal(Math.max(-1, table.find(hash, bytes[1]!, bytes, 2, end)), known ?? -1);
        assert.equal(table.locate(hash, bytes[1]!, bytes, 2, end), expected);
      }
      assert.equal(table.count, model.size);
      const listed = Array.from({ length: table.count }, (_, at) =>
        table.bytes.toString("utf8", table.ends[at], table.ends[at + 1]),
      );
      assert.deepEqual(
        listed,
        [...model.keys()].map((key) => Buffer.from(`=${key}`).toString("utf8")),
      );
    }),
  );
});

test("a key that is inserted again is found by its new number, also when the table has grown", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.boolean()), { maxLength: 200 }), (steps) => {
      const table = new KeyTable();
      const model = new Map<number, number>();
      const keys: number[] = [];
      for (const [key, again] of steps) {
        const bytes = Buffer.of(1, key);
        const known = model.get(key);
        if (known === undefined || again) {
          model.set(key, keys.length);
          keys.push(key);
        }
        const number = known !== undefined && again ? table.again(known) : table.locate(0, 1, bytes, 1, 2);
        assert.equal(number, model.get(key));
      }
      assert.deepEqual(
        keys.map((_, number) => table.bytes[table.ends[number]! + 1]),
        keys,
      );
    }),
  );
});
