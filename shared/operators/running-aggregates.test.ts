import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { UserCodeError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { tumbling } from "../pipeline/windows.ts";
import { aggregate, collect, count, sum } from "./aggregates.ts";
import { alone, type Epoch, epochs, keyGroups, placeOf, runAll, type Value, value, watermarks } from "./test-epochs.ts";
import type { EpochResult } from "./test-support.ts";

const sink = files.sink({ path: "out" });
const unlucky = 13;

function values(options: PipelineOptions = {}) {
  return pipeline("test", { keyGroups, ...options })
    .from(files.source({ path: "in", value: text() }))
    .map((line) => JSON.parse(line) as Value)
    .keyBy(({ key }) => key);
}

/** Running amounts, with the time that each row has; and windows of the same keys beside them. */
function listing(expireAfter?: number, options?: PipelineOptions): Topology {
  const keyed = values(options);
  keyed.window(tumbling(10), { id: "windows" }).aggregate({ count: count() }).to(sink, { id: "counts" });
  const list = aggregate<Value, number[], readonly number[]>({
    init: () => [],
    add(accumulator, { amount }) {
      accumulator.push(amount);
      if (amount === unlucky && options !== undefined) throw new Error("unlucky");
      return accumulator;
    },
    merge: (accumulator, other) => [...accumulator, ...other],
    result: (accumulator) => accumulator,
  });
  return describe(
    keyed
      .aggregate({ count: count(), list }, { id: "running", ...(expireAfter && { expireAfter }) })
      .map((row, { timestamp }) => ({ ...row, timestamp }))
      .to(sink, { id: "rows" }),
  );
}

const rowsOf = ({ rows }: EpochResult): string[] => (rows.rows ?? []).map((row) => JSON.stringify(row));

/** What running aggregates are: one value after the other, without shares, tables or snapshots. Of each epoch its rows, as texts. */
function naive(list: readonly Epoch[], expireAfter: number, isAdded: (value: Value) => boolean): string[][] {
  const state = new Map<string, { list: number[]; latest: number }>();
  return watermarks(list).map(({ before }, epoch) => {
    const changed = new Set<string>();
    for (const { key, time, amount } of list[epoch]!.subRanges.flat().filter(isAdded)) {
      const known = state.get(key);
      const isOver = !changed.has(key) && before !== null && known && known.latest + expireAfter <= before;
      const isNew = !known || isOver || time >= known.latest + expireAfter;
      const entry = isNew ? { list: [], latest: time } : known;
      entry.list.push(amount);
      entry.latest = Math.max(entry.latest, time);
      state.set(key, entry);
      changed.add(key);
    }
    return [...changed]
      .map((key) => ({ key, ...placeOf(key) }))
      .sort((a, b) => a.group - b.group || (a.bytes < b.bytes ? -1 : 1))
      .map(({ key }) => {
        const { list, latest } = state.get(key)!;
        return JSON.stringify({ key, count: list.length, list, timestamp: latest });
      });
  });
}

const expiry = fc.constantFrom(undefined, 1, 20, 60);

test("each epoch has a row for each key that it changed, as a naive evaluation gives, in order, at the key's latest time", async () => {
  await fc.assert(
    fc.asyncProperty(epochs, expiry, async (list, expireAfter) => {
      const results = await runAll(listing(expireAfter), list, alone);
      assert.deepEqual(
        results.map(rowsOf),
        naive(list, expireAfter ?? Number.POSITIVE_INFINITY, () => true),
      );
    }),
    { numRuns: 300 },
  );
});

test("a value on which `add` throws leaves its key as it was", async () => {
  const options = { onError: deadLetter(sink) };
  await fc.assert(
    fc.asyncProperty(epochs, expiry, async (list, expireAfter) => {
      const results = await runAll(listing(expireAfter, options), list, alone);
      const isAdded = ({ amount }: Value) => amount !== unlucky;
      assert.deepEqual(results.map(rowsOf), naive(list, expireAfter ?? Number.POSITIVE_INFINITY, isAdded));
    }),
    { numRuns: 200 },
  );
});

test("rows and state do not depend on tasks, batches, or where state comes from (I6)", async () => {
  const tasks = fc.option(
    fc.record({ source: fc.integer({ min: 1, max: 4 }), keyed: fc.integer({ min: 1, max: 5 }) }),
    { nil: undefined },
  );
  const choices = fc.record({
    batch: fc.integer({ min: 1, max: 6 }),
    tasks: fc.func(tasks),
    cold: fc.func(fc.boolean()),
  });
  const options = fc.constantFrom(undefined, { onError: deadLetter(sink) });
  await fc.assert(
    fc.asyncProperty(epochs, expiry, options, choices, async (list, expireAfter, options, varied) => {
      const topology = listing(expireAfter, options);
      const rows = (results: EpochResult[]) => results.map((result) => result.rows);
      assert.deepEqual(rows(await runAll(topology, list, varied)), rows(await runAll(topology, list, alone)));
    }),
    { numRuns: 150 },
  );
});

test("with disorder within bounds the last row of each key does not depend on the cuts, nor does it when keys expire", async () => {
  const outOfOrder = 8;
  const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 60 }), expiry, cuts, cuts, async (given, expireAfter, a, b) => {
      // Each record at most `outOfOrder` behind an earlier one.
      const ordered = given.map((one, at) => ({ ...one, time: at * 3 - (Math.abs(one.time) % outOfOrder) }));
      const lastRows = async (sizes: readonly number[]) => {
        const list: Epoch[] = [];
        let latest = Number.NEGATIVE_INFINITY;
        let watermark = -30;
        for (let from = 0, epoch = 0; from < ordered.length; epoch++) {
          const records = ordered.slice(from, from + (sizes[epoch] ?? 20));
          from += records.length;
          latest = Math.max(latest, ...records.map(({ time }) => time));
          const after = Math.max(watermark, latest - outOfOrder);
          list.push({ subRanges: [records.slice(0, 3), records.slice(3)], step: after - watermark });
          watermark = after;
        }
        const rows = (await runAll(listing(expireAfter), list, alone)).flatMap(({ rows }) => rows.rows ?? []);
        return new Map(rows.map((row) => [(row as { key: string }).key, JSON.stringify(row)]));
      };
      const sorted = (rows: Map<string, string>) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
      assert.deepEqual(sorted(await lastRows(a)), sorted(await lastRows(b)));
    }),
    { numRuns: 150 },
  );
});

const at = (time: number, key: string, amount = 1): Value => ({ key, time, amount });
const epoch = (step: number, ...subRanges: Value[][]): Epoch => ({ subRanges, step });

test("rows come without any watermark, and an epoch without values has none", async () => {
  const results = await runAll(listing(), [epoch(0, [at(5, "a")]), epoch(0), epoch(0, [at(3, "a")])], alone);
  assert.deepEqual(results.map(rowsOf), [
    ['{"key":"a","count":1,"list":[1],"timestamp":5}'],
    [],
    ['{"key":"a","count":2,"list":[1,1],"timestamp":5}'],
  ]);
  // Nothing waits for a watermark but the windows beside it.
  assert.deepEqual(results.at(-1)!.open, [{ nextFire: 10, openUntil: 10 }]);
});

test("a record that comes after its key was over begins it anew, once an epoch, however it is cut", async () => {
  const late = [at(1, "a", 2), at(0, "a", 3)];
  const before = [epoch(0, [at(1, "a", 1)]), epoch(95)]; // W = 65
  const expected = ['{"key":"a","count":2,"list":[2,3],"timestamp":1}'];
  for (const last of [epoch(0, late), epoch(0, [late[0]!], [late[1]!])]) {
    const results = await runAll(listing(20), [...before, last], alone);
    assert.deepEqual(rowsOf(results[2]!), expected);
  }
  // In the next epoch it is over again.
  const [, , , again] = await runAll(listing(20), [...before, epoch(0, late), epoch(0, [at(1, "a", 4)])], alone);
  assert.deepEqual(rowsOf(again!), ['{"key":"a","count":1,"list":[4],"timestamp":1}']);
});

test("keys that have expired leave the state when they are half of their key group or more", async () => {
  const topology = describe(
    pipeline("test", { keyGroups: 1 })
      .from(files.source({ path: "in", value: text() }))
      .map((line) => JSON.parse(line) as Value)
      .keyBy(({ key }) => key)
      .aggregate({ count: count() }, { expireAfter: 10 })
      .to(sink, { id: "rows" }),
  );
  const old = Array.from({ length: 100 }, (_, key) => at(0, `old-${key}`));
  const results = await runAll(
    topology,
    [epoch(0, old), epoch(35, [at(9, "a")]), epoch(5), epoch(15, [at(12, "b")]), epoch(1000)],
    alone,
  );
  const sizes = results.map(({ saved }) => saved);
  assert.ok(sizes[0]! > 1000 && sizes[1]! > sizes[0]!, String(sizes)); // -30 + 35: nothing has expired
  assert.ok(sizes[2]! < 100, String(sizes)); // W = 10: the old ones have
  assert.deepEqual(results.at(-1)!.chains, [{ from: 0, to: 1, objects: [] }]);
});

test("one error of a merge or a result is one dead letter, with the key, and the rest goes on", async () => {
  const picky = aggregate<Value, number, number>({
    init: () => 0,
    add: (total, { amount }) => total + amount,
    merge(total, other) {
      if (total + other === 7) throw new Error("no sevens");
      return total + other;
    },
    result(total) {
      if (total === 3) throw new Error("no threes");
      return total;
    },
  });
  const build = (options?: PipelineOptions) =>
    describe(
      values(options)
        .aggregate({ total: picky, sum: sum(({ amount }) => amount) }, { id: "running" })
        .to(sink, { id: "rows" }),
    );
  const list = [epoch(0, [at(1, "a", 4), at(2, "b", 3)]), epoch(0, [at(3, "a", 3), at(4, "b", 2), at(5, "c", 1)])];
  const [first, second] = await runAll(build({ onError: deadLetter(sink) }), list, alone);
  const place = { operator: "running", partition: "", offset: -1 };
  const value = { total: 3, sum: 3 };
  assert.deepEqual(first!.rows["dead-letter"], [{ error: "no threes", ...place, value, key: "b" }]);
  assert.deepEqual(first!.rows.rows, [{ key: "a", total: 4, sum: 4 }]);
  assert.deepEqual(second!.rows["dead-letter"], [{ error: "no sevens", ...place, value, key: "a" }]);
  // "a" kept what it had.
  const rows = (second!.rows.rows as { key: string }[]).toSorted((one, other) => (one.key < other.key ? -1 : 1));
  assert.deepEqual(rows, [
    { key: "a", total: 4, sum: 4 },
    { key: "b", total: 5, sum: 5 },
    { key: "c", total: 1, sum: 1 },
  ]);
  await assert.rejects(runAll(build(), list, alone), (error: UserCodeError) => {
    assert.ok(error instanceof UserCodeError);
    assert.match(error.message, /"running" .*failed on a row of the running aggregation: no threes/);
    return true;
  });
});

test("an accumulator that the rows share with nobody stays as it is", async () => {
  const topology = describe(
    values()
      .aggregate({ list: collect(({ amount }) => amount) })
      .map((row) => {
        row.list.push(99);
        return row;
      })
      .to(sink, { id: "rows" }),
  );
  const [, second] = await runAll(topology, [epoch(0, [at(1, "a", 1)]), epoch(0, [at(2, "a", 2)])], alone);
  assert.deepEqual(second!.rows.rows, [{ key: "a", list: [1, 2, 99] }]);
});
