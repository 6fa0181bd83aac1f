import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hashKey, keyGroupOf } from "./key-codec.ts";
import { byGroup, byGroupAndKey } from "./key-order.ts";
import { KeyTable } from "./key-table.ts";

function tableOf(keys: readonly Uint8Array[]): KeyTable {
  const table = new KeyTable();
  for (const key of keys) table.locate(hashKey(key, 0, key.length), key[0]!, key, 1, key.length);
  return table;
}

function keyAt(table: KeyTable, number: number): Buffer {
  return table.bytes.subarray(table.ends[number], table.ends[number + 1]);
}

// Ends, zeros and long equal beginnings are where four bytes at a time could go wrong.
const keys = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom("", "abcd", "same-".repeat(3), "x".repeat(90)),
      fc.array(fc.constantFrom(0, 1, 97, 255), { maxLength: 6 }),
    )
    .map(([prefix, rest]) => Uint8Array.from([...Buffer.from(prefix), ...rest])),
  { maxLength: 200, selector: (bytes) => bytes.join() },
);

test("sorts by key group and bytes", () => {
  fc.assert(
    fc.property(keys, fc.constantFrom(1, 3), (bytes, keyGroups) => {
      const table = tableOf(bytes);
      const { order, starts } = byGroupAndKey(table, keyGroups);
      const groupOf = (number: number) => keyGroupOf(table.hashes[number]!, keyGroups);
      const expected = [...bytes.keys()].sort(
        (a, b) => groupOf(a) - groupOf(b) || Buffer.compare(keyAt(table, a), keyAt(table, b)),
      );
      assert.deepEqual([...order], expected);
      for (let group = 0; group < keyGroups; group++) {
        assert.ok(order.subarray(starts[group], starts[group + 1]).every((number) => groupOf(number) === group));
      }
      assert.equal(starts[keyGroups], bytes.length);
    }),
  );
});

test("grouping keeps the order of insertion, and takes no other keys than those given", () => {
  fc.assert(
    fc.property(keys, (bytes) => {
      const table = tableOf(bytes);
      const odd = [...bytes.keys()].filter((number) => number % 2 === 1);
      const { order, starts } = byGroup(table, 3, odd);
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        odd,
      );
      for (let group = 0; group < 3; group++) {
        const share = [...order.subarray(starts[group], starts[group + 1])];
        assert.deepEqual(
          share,
          share.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});
