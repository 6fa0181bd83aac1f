import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aggregate, count } from "../operators/aggregates.ts";
import { mergeAll, mergeEach } from "../operators/merge.ts";
import { type AnyAggregate, type Column, type NamedAggregate, newColumns } from "./columns.ts";
import type { Entries } from "./entries.ts";
import { KeyTable } from "./key-table.ts";
import { WindowState } from "./window-state.ts";

const list = aggregate<number, number[], number[]>({
  init: () => [],
  add: (all, value) => [...all, value],
  merge: (all, other) => [...all, ...other],
  result: (all) => all,
});
const aggregates = Object.entries({ count: count(), list }).map(
  ([name, aggregate]): NamedAggregate => ({
    operator: "test",
    name,
    aggregate: aggregate as AnyAggregate,
    folds: "values",
  }),
);

/** What a combiner hands over: a table, and one column more than the state has. */
function partial(entries: readonly (readonly [number, number])[]): Entries {
  const keys = new KeyTable();
  const [counts, lists, ...rest] = [...newColumns(aggregates, 1024), new Float64Array(1024)] as Column[];
  for (const [key, value] of entries) {
    const number = keys.locate(key * 7, 1, Buffer.of(1, key), 1, 2);
    counts![number] = value;
    lists![number] = [value];
  }
  return { keys, columns: [counts!, lists!, ...rest] };
}

/** The same, but for the table: as it is after a shuffle. */
function copied({ keys: { count, bytes, ends, hashes }, columns }: Entries): Entries {
  return { keys: { count, bytes, ends, hashes }, columns };
}

function contents({ keys, columns }: WindowState): unknown[] {
  return Array.from({ length: keys.count }, (_, at) => [
    keys.bytes.subarray(keys.ends[at], keys.ends[at + 1]).toString("hex"),
    columns.map((column) => column[at]),
  ]);
}

test("a table that is taken over is what its keys, merged one by one, are", () => {
  const entries = fc.array(fc.tuple(fc.nat(30), fc.nat(9)), { maxLength: 60 });
  const fail = (_: number, error: unknown) => {
    throw error;
  };
  fc.assert(
    fc.property(
      fc.array(entries, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(mergeAll, mergeEach),
      (all, merge) => {
        const [adopting, copying] = [new WindowState(aggregates), new WindowState(aggregates)];
        for (const one of all) {
          merge(adopting, partial(one), aggregates, fail);
          merge(copying, copied(partial(one)), aggregates, fail);
          assert.deepEqual(contents(adopting), contents(copying));
          assert.equal(adopting.changes, copying.changes);
          assert.deepEqual(adopting.changedInOrder(8), copying.changedInOrder(8));
        }
        adopting.markSaved();
        merge(adopting, partial([[3, 4]]), aggregates, fail);
        assert.equal(adopting.changes, 1);
      },
    ),
  );
});
