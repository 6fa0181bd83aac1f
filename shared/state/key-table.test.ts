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

test("many keys at once get the numbers that they get one after the other", () => {
  const text = fc.oneof(fc.string({ maxLength: 2 }), fc.string({ minLength: 30, maxLength: 40 }));
  const texts = fc.array(
    fc.tuple(fc.constantFrom("=", "#"), text).map(([tag, text]) => tag + text),
    { maxLength: 700, size: "max" },
  );
  const cuts = fc.array(fc.nat(700), { maxLength: 3 });
  fc.assert(
    fc.property(texts, cuts, fc.constantFrom(0xffffffff, 0x3ff, 0x1f, 0), fc.boolean(), (keys, cuts, mask, tagged) => {
      const encoded = keys.map((key) => Buffer.from(key));
      const bytes = Buffer.concat(encoded);
      const [hashes, starts, ends] = [
        new Int32Array(keys.length),
        new Int32Array(keys.length),
        new Int32Array(keys.length),
      ];
      for (let at = 0, end = 0; at < keys.length; at++) {
        starts[at] = end + (tagged ? 1 : 0);
        hashes[at] = hashKey(encoded[at]!, 1, encoded[at]!.length) & mask;
        ends[at] = end += encoded[at]!.length;
      }
      const tags = Uint8Array.from(keys, (key) => key.charCodeAt(0));
      const [one, all] = [new KeyTable(), new KeyTable()];
      let from = 0;
      for (const to of [...cuts.map((cut) => Math.min(cut, keys.length)).sort((a, b) => a - b), keys.length]) {
        const expected = encoded
          .slice(from, to)
          .map((key, at) => one.locate(hashes[from + at]!, key[0]!, key, 1, key.length));
        const numbers = new Int32Array(to - from);
        all.locateAll({ hashes, bytes, starts, ends, ...(tagged && { tags }) }, from, to, numbers);
        assert.deepEqual([...numbers], expected);
        from = to;
      }
      assert.equal(all.count, one.count);
      assert.deepEqual(all.ends.subarray(0, all.count + 1), one.ends.subarray(0, one.count + 1));
      assert.deepEqual(all.hashes.subarray(0, all.count), one.hashes.subarray(0, one.count));
      assert.ok(all.bytes.subarray(0, all.ends[all.count]).equals(one.bytes.subarray(0, one.ends[one.count])));
      // Nothing was left behind in the table.
      for (const [at, key] of encoded.entries())
        assert.equal(
          all.find(hashes[at]!, key[0]!, key, 1, key.length),
          one.find(hashes[at]!, key[0]!, key, 1, key.length),
        );
    }),
  );
});
