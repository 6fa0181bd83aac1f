import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserCodeError } from "../errors.ts";
import type { Key } from "../pipeline/topology.ts";
import { type AnyAggregate, type NamedAggregate, newColumns, partialAggregatesOf } from "../state/columns.ts";
import { countOf, type Entries, keyOf } from "../state/entries.ts";
import { decodeKey } from "../state/key-codec.ts";
import { WindowState } from "../state/window-state.ts";
import { aggregate, collect, count, sum } from "./aggregates.ts";
import { Keys } from "./keys.ts";
import { mergeAll, mergeEach } from "./merge.ts";
import { WindowTable } from "./window-table.ts";

const bad = -1;

/** Changes its accumulator, and then throws on a bad value. */
const careless = aggregate<number, { seen: number[] }, unknown>({
  init: () => ({ seen: [] }),
  add(accumulator, value) {
    accumulator.seen.push(value);
    if (value === bad) throw new Error("bad");
    return accumulator;
  },
  merge(accumulator, other) {
    accumulator.seen.push(...other.seen);
    if (accumulator.seen.length > 5) throw new Error("too many");
    return accumulator;
  },
  result: ({ seen }) => seen,
});

function named(aggregates: Record<string, unknown>): NamedAggregate[] {
  return Object.entries(aggregates).map(([name, one]) => ({
    operator: "w",
    name,
    aggregate: one as AnyAggregate,
    folds: "values",
  }));
}

function contents(entries: Entries): Record<string, unknown[]> {
  const { keys, columns } = entries;
  const listed = Array.from({ length: countOf(entries) }, (_, at) => {
    const key = keyOf(entries, at);
    return [decodeKey(keys.bytes, keys.ends[key]!, keys.ends[key + 1]!), columns.map((column) => column[at])];
  });
  return Object.fromEntries(listed);
}

function keysOf(list: readonly Key[]): Keys {
  const keys = new Keys();
  keys.begin(list.length);
  for (const key of list) keys.add(key);
  return keys.end();
}

const strict = (_: number, error: unknown) => {
  throw error;
};

const aggregates = named({ all: collect(), count: count(), careless, total: sum((value: number) => value) });
const pair = fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: bad, max: 8 }));
const pairs = fc.array(pair, { maxLength: 500, size: "max" });

test("a value that fails leaves every accumulator as it was, and makes no key", () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const failed: number[] = [];
      const table = new WindowTable(aggregates);
      const keys = keysOf(list.map(([key]) => key));
      table.addEach(keys, { values: list.map(([, value]) => value) }, 0, list.length, (index) => failed.push(index));
      const good = list.filter(([, value]) => value !== bad);
      assert.deepEqual(
        failed,
        [...list.keys()].filter((at) => list[at]![1] === bad),
      );
      const expected = new WindowTable(aggregates);
      const goodKeys = keysOf(good.map(([key]) => key));
      expected.addAll(goodKeys, { values: good.map(([, value]) => value) }, 0, good.length, strict);
      assert.deepEqual(contents(table.finish(keys.dictionary)), contents(expected.finish(goodKeys.dictionary)));
    }),
  );
});

test("adds in order, under each key, over any number of calls", () => {
  const table = new WindowTable(named({ all: collect(), count: count() }));
  const keys = keysOf(Array.from({ length: 500 }, (_, at) => `key-${at % 100}`));
  const values = { values: Array.from({ length: 500 }, (_, at) => at) };
  table.addAll(keys, values, 0, 123, strict);
  table.addAll(keys, values, 123, 500, strict);
  const result = contents(table.finish(keys.dictionary));
  assert.equal(Object.keys(result).length, 100);
  assert.deepEqual(result["key-7"], [[7, 107, 207, 307, 407], 5]);
});

test("the failure of a fold names the value", () => {
  for (const failing of [
    { careless },
    { number: { ...count(), add: () => "1" } },
    { later: { ...count(), numeric: false, add: async () => 1 } },
  ]) {
    let at = -1;
    const fail = (index: number) => {
      at = index;
      throw new Error("stop");
    };
    const table = new WindowTable(named(failing));
    assert.throws(() => table.addAll(keysOf(["a", "a"]), { values: [bad, 1] }, 0, 2, fail), /stop/);
    assert.equal(at, 0);
  }
});

test("an accumulator that is no data is found before anything is shuffled", () => {
  class Sketch {}
  const sketch = aggregate({ init: () => new Sketch(), add: (a) => a, merge: (a) => a, result: (a) => a });
  const table = new WindowTable(named({ sketch }));
  const keys = keysOf(["a"]);
  table.addAll(keys, { values: [1] }, 0, 1, strict);
  assert.throws(
    () => table.finish(keys.dictionary),
    (error) => error instanceof UserCodeError && /"sketch".*instance of Sketch/.test(error.message),
  );
});

function entriesOf(values: Record<string, number[]>): Entries {
  const table = new WindowTable(aggregates);
  const pairs = Object.entries(values).flatMap(([key, list]) => list.map((value) => [key, value] as const));
  const keys = keysOf(pairs.map(([key]) => key));
  table.addAll(keys, { values: pairs.map(([, value]) => value) }, 0, pairs.length, strict);
  return table.finish(keys.dictionary);
}

test("merges entries onto those of the same key", () => {
  for (const merge of [mergeAll, mergeEach]) {
    const state = new WindowState(aggregates);
    merge(state, entriesOf({ a: [1], b: [2] }), aggregates, strict);
    merge(state, entriesOf({ b: [3, 3], c: [1] }), aggregates, strict);
    assert.deepEqual(contents(state), {
      a: [[1], 1, { seen: [1] }, 1],
      b: [[2, 3, 3], 3, { seen: [2, 3, 3] }, 8],
      c: [[1], 1, { seen: [1] }, 1],
    });
  }
});

test("an entry whose merge fails leaves the accumulators as they were, and the rest is merged", () => {
  const state = new WindowState(aggregates);
  mergeEach(state, entriesOf({ a: [1, 1, 1], b: [1] }), aggregates, strict);
  const failed: number[] = [];
  mergeEach(state, entriesOf({ a: [2, 2, 2], b: [2] }), aggregates, (index) => failed.push(index));
  assert.deepEqual(failed, [0]);
  assert.deepEqual(contents(state), {
    a: [[1, 1, 1], 3, { seen: [1, 1, 1] }, 3],
    b: [[1, 2], 2, { seen: [1, 2] }, 3],
  });
});

test("numbers are kept in columns of numbers", () => {
  assert.deepEqual(
    newColumns(aggregates, 4).map((column) => column instanceof Float64Array),
    [false, true, false, true],
  );
});

test("a key that begins anew is there twice, and one that does not is there once", () => {
  const node = { id: "w", kind: "aggregate", input: "k", aggregates: { count: count() } } as const;
  const times = Float64Array.of(0, 9, 18, 28, 27);
  const keys = keysOf(Array.from(times, () => "a"));
  for (const add of ["addAll", "addEach"] as const) {
    const table = new WindowTable(partialAggregatesOf(node), 10);
    table[add](keys, { values: [...times] }, 0, times.length, strict, times);
    const { numbers, columns } = table.finish(keys.dictionary);
    assert.deepEqual([...numbers!], [0, 0]);
    // Number of values, latest time, first time.
    assert.deepEqual(
      [0, 1].map((number) => columns.map((column) => column[number])),
      [
        [3, 18, 0],
        [2, 28, 28],
      ],
    );
  }
});
