import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { keyGroupOf } from "./key-codec.ts";
import { byGroup, byGroupAndKey } from "./key-order.ts";
import type { KeyTable } from "./key-table.ts";
import { tableOf } from "./test-support.ts";

function keyAt(table: KeyTable, number: number): Buffer {
  return table.bytes.subarray(table.ends[number], table.ends[number + 1]);
}

// Ends, zeros and long equal beginnings are where four bytes at a time could go wrong.
const keys = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom("", "abcd", "same-".repeat(3), "x".repeat(90)),
      fc.array(fc.constantFrom(0, 1, 97, 255), { minLength: 1, maxLength: 6 }),
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

test("grouping keeps the order of entries, and takes each once, by the group of its key", () => {
  fc.assert(
    fc.property(keys, (bytes) => {
      const table = tableOf(bytes);
      // Entries whose keys are the odd ones, the last one first.
      const odd = Int32Array.from([...bytes.keys()].filter((number) => number % 2 === 1).reverse());
      const { order, starts } = byGroup({ keys: table, numbers: odd, columns: [] }, 3);
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        [...odd.keys()],
      );
      for (let group = 0; group < 3; group++) {
        const share = [...order.subarray(starts[group], starts[group + 1])];
        assert.ok(share.every((index) => keyGroupOf(table.hashes[odd[index]!]!, 3) === group));
        assert.deepEqual(
          share,
          share.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});
