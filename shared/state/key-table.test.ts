import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hashKey } from "./key-codec.ts";
import { type KeysInPlace, KeyTable } from "./key-table.ts";
import { wholeBytes } from "./key-words.ts";
import { insert } from "./test-support.ts";

// Few bytes, zeros and equal beginnings: where words of four bytes could take one key for another.
const byte = fc.constantFrom(0, 1, 0x61, 0xff);
const prefix = fc.constantFrom("", "aaaa", "\0\0\0\0\0\0\0\0", "x".repeat(wholeBytes - 1), "long".repeat(10));
const key = fc
  .tuple(prefix, fc.array(byte, { minLength: 1, maxLength: 6 }))
  .map(([text, rest]) => Uint8Array.from([...Buffer.from(text), ...rest]));
const keys = fc.array(key, { maxLength: 700, size: "max" });

interface Laid {
  readonly inPlace: KeysInPlace;
  readonly numbers: Int32Array;
}

/** The keys in one buffer, as they may come: with their first bytes apart or not, behind each other up to the very end or not. */
function laidOut(list: readonly Uint8Array[], { isTagged = false, behind = 0 }): Laid {
  const bytes = Buffer.concat([...list, Buffer.alloc(behind, 0x61)]);
  const [starts, ends] = [new Int32Array(list.length), new Int32Array(list.length)];
  for (let at = 0, end = 0; at < list.length; at++) {
    starts[at] = end + (isTagged ? 1 : 0);
    ends[at] = end += list[at]!.length;
  }
  const tags = Uint8Array.from(list, ([tag]) => tag!);
  return { inPlace: { bytes, starts, ends, ...(isTagged && { tags }) }, numbers: new Int32Array(list.length) };
}

function modelOf(list: readonly Uint8Array[]) {
  const model = new Map<string, number>();
  const numbers = list.map((one) => {
    const text = Buffer.from(one).toString("latin1");
    if (!model.has(text)) model.set(text, model.size);
    return model.get(text)!;
  });
  return { numbers, keys: [...model.keys()] };
}

function keysIn({ count, bytes, ends }: KeyTable): string[] {
  return Array.from({ length: count }, (_, at) => bytes.toString("latin1", ends[at], ends[at + 1]));
}

test("numbers keys as a Map does, in order of insertion, however they lie and in whatever pieces they come", () => {
  const cuts = fc.array(fc.nat(700), { maxLength: 3 });
  fc.assert(
    fc.property(keys, cuts, fc.boolean(), fc.constantFrom(0, 30), (list, cuts, isTagged, behind) => {
      const { inPlace, numbers } = laidOut(list, { isTagged, behind });
      const table = new KeyTable();
      let from = 0;
      for (const to of [...cuts.map((cut) => Math.min(cut, list.length)).sort((a, b) => a - b), list.length]) {
        table.locateAll(inPlace, from, to, numbers.subarray(from));
        from = to;
      }
      const model = modelOf(list);
      assert.deepEqual([...numbers], model.numbers);
      assert.deepEqual(keysIn(table), model.keys);
      for (const [number, text] of model.keys.entries())
        assert.equal(table.hashes[number], hashKey(Buffer.from(text, "latin1"), 0, text.length));
    }),
  );
});

test("keys that are chosen by number get the numbers that they get one after the other", () => {
  fc.assert(
    fc.property(keys, fc.infiniteStream(fc.nat()), (list, picks) => {
      const from = new KeyTable();
      for (const one of list) insert(from, one);
      const chosen = Int32Array.from(from.count === 0 ? [] : list, () => picks.next().value! % from.count);
      const table = new KeyTable();
      const numbers = new Int32Array(chosen.length);
      const { bytes, ends, hashes } = from;
      table.locateAll({ bytes, hashes, starts: ends, ends: ends.subarray(1) }, 0, chosen.length, numbers, chosen);
      const model = modelOf(Array.from(chosen, (key) => bytes.subarray(ends[key], ends[key + 1])));
      assert.deepEqual([...numbers], model.numbers);
      assert.deepEqual(keysIn(table), model.keys);
      assert.deepEqual(
        [...table.hashes.subarray(0, table.count)],
        model.keys.map((text) => hashKey(Buffer.from(text, "latin1"), 0, text.length)),
      );
    }),
  );
});

test("keys whose hashes are the same are told apart by their bytes", () => {
  fc.assert(
    fc.property(keys, fc.constantFrom(0, 3), (list, mask) => {
      const table = new KeyTable();
      const model = modelOf(list);
      const hash = (one: Uint8Array) => hashKey(one, 0, one.length) & mask;
      assert.deepEqual(
        list.map((one) => insert(table, one, hash(one))),
        model.numbers,
      );
      assert.deepEqual(keysIn(table), model.keys);
    }),
  );
});
