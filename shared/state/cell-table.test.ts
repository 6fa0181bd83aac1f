import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CellTable } from "./cell-table.ts";

/** Small numbers and others, of which the table keeps the cells in different ways, and those between. */
const key = fc.oneof(fc.nat(300), fc.integer({ min: 16_300, max: 16_500 }), fc.integer({ min: 1e6, max: 1e6 + 3000 }));

const step = fc.oneof(
  fc.record({ do: fc.constant("locate" as const), keys: fc.array(key, { maxLength: 200 }) }),
  fc.record({ do: fc.constant("add" as const), keys: fc.array(key, { maxLength: 5 }) }),
  fc.record({ do: fc.constant("clear" as const), keys: fc.constant([]) }),
);

test("numbers cells as a Map does, in order; a key that is added again has its newest cell, also when the table has grown", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const table = new CellTable();
      const model = new Map<number, number>();
      const keys: number[] = [];
      const added = (key: number) => {
        model.set(key, keys.length);
        return keys.push(key) - 1;
      };
      for (const { do: what, keys: given } of steps) {
        if (what === "clear") {
          table.clear();
          model.clear();
          keys.length = 0;
        } else if (what === "add") for (const key of given) assert.equal(table.add(key), added(key));
        else {
          const cells = new Int32Array(given.length);
          table.locateAll(Int32Array.of(-1, ...given), 1, given.length + 1, cells);
          assert.deepEqual(
            [...cells],
            given.map((key) => model.get(key) ?? added(key)),
          );
        }
        for (const key of [...given, 301, 1e6 + 3001]) assert.equal(table.find(key), model.get(key) ?? -1);
        assert.deepEqual([...table.keys.subarray(0, table.count)], keys);
      }
    }),
  );
});

test("grows with keys of large numbers, which it keeps elsewhere, among those of small ones", () => {
  const table = new CellTable();
  const cells = new Int32Array(100);
  for (let from = 0; from < 20_000; from += 100) {
    const keys = Int32Array.from(cells, (_, index) => (from + index) * (index % 2 === 0 ? 1 : 97));
    table.locateAll(keys, 0, keys.length, cells);
    assert.deepEqual(
      [...cells],
      [...keys].map((key) => table.find(key)),
    );
  }
  assert.equal(new Set(table.keys.subarray(0, table.count)).size, table.count);
});

test("keys that get other numbers keep their cells", () => {
  const table = new CellTable();
  const before = [5, 20_000, 16_383, 16_384, 100_000, 7];
  const after = [30_000, 6, 16_384, 16_383, 20_000, 5];
  table.locateAll(Int32Array.from(before), 0, before.length, new Int32Array(before.length));
  const numbers = new Int32Array(100_001);
  for (const [index, key] of before.entries()) numbers[key] = after[index]!;
  table.renumber(numbers);
  assert.deepEqual(
    after.map((key) => table.find(key)),
    [0, 1, 2, 3, 4, 5],
  );
  for (const key of [20_001, 100_000, 7]) assert.equal(table.find(key), -1);
});
