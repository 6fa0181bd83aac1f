import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aggregate, count } from "../operators/aggregates.ts";
import { mergeAll, mergeEach } from "../operators/merge.ts";
import type { AnyAggregate, NamedAggregate } from "./columns.ts";
import { type Entries, keyOf } from "./entries.ts";
import { SpareRooms } from "./spare-rooms.ts";
import { insert, tableOf } from "./test-support.ts";
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

/** What a combiner hands over: entries of a dictionary, which is another one for each sub-range, and one column more than the state has. */
function partial(given: readonly (readonly [key: number, value: number])[]): Entries {
  const keys = tableOf([31, 30, 29].map((key) => Buffer.of(1, key)));
  const entries = [...new Map(given)];
  const numbers = Int32Array.from(entries, ([key]) => insert(keys, Buffer.of(1, key)));
  const values = entries.map(([, value]) => value);
  const [counts, lists] = [Float64Array.from(values), values.map((value) => [value])];
  return { keys, numbers, columns: [counts, lists, new Float64Array(values.length)] };
}

/** The same with a key for each entry. */
function plain({ keys: { bytes, ends }, numbers, columns }: Entries): Entries {
  return { keys: tableOf(Array.from(numbers!, (key) => bytes.subarray(ends[key], ends[key + 1]))), columns };
}

function contents(window: WindowState): unknown[] {
  const { bytes, ends } = window.keys;
  return Array.from({ length: window.count }, (_, at) => [
    bytes.subarray(ends[keyOf(window, at)], ends[keyOf(window, at) + 1]!).toString("hex"),
    window.columns.map((column) => column[at]),
  ]);
}

test("entries that share a dictionary are merged as if each had its key", () => {
  const entries = fc.array(fc.tuple(fc.nat(30), fc.nat(9)), { maxLength: 60 });
  const fail = (_: number, error: unknown) => {
    throw error;
  };
  fc.assert(
    fc.property(
      fc.array(entries, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(mergeAll, mergeEach),
      (all, merge) => {
        const [one, other] = [new WindowState(aggregates), new WindowState(aggregates)];
        for (const given of all) {
          merge(one, partial(given), aggregates, fail);
          merge(other, plain(partial(given)), aggregates, fail);
          assert.deepEqual(contents(one), contents(other));
          assert.equal(one.changes, other.changes);
          assert.deepEqual(one.changedInOrder(8), other.changedInOrder(8));
        }
        one.markSaved();
        merge(one, partial([[3, 4]]), aggregates, fail);
        assert.equal(one.changes, 1);
      },
    ),
  );
});

test("a window in the room of another one begins empty", () => {
  const fail = (_: number, error: unknown) => {
    throw error;
  };
  const before = new WindowState(aggregates);
  mergeAll(
    before,
    partial([
      [1, 5],
      [2, 6],
      [30, 7],
    ]),
    aggregates,
    fail,
  );
  const room = before.discard();
  const rooms = new SpareRooms();
  rooms.give(room);
  const [after, other] = [new WindowState(aggregates, "", 0, rooms.take()), new WindowState(aggregates)];
  assert.equal(rooms.take(), undefined);
  assert.equal(before.count, 0);
  for (const window of [after, other])
    mergeAll(
      window,
      partial([
        [30, 1],
        [3, 4],
      ]),
      aggregates,
      fail,
    );
  assert.deepEqual(contents(after), contents(other));
  assert.deepEqual(after.changedInOrder(8), other.changedInOrder(8));
});
