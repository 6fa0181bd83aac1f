import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { deadLetter, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { aggregate, average, collect, count, max, min, sum } from "./aggregates.ts";
import { alone, type Epoch, epochs, keyGroups, placeOf, runAll, type Value, value, watermarks } from "./test-epochs.ts";
import type { EpochResult } from "./test-support.ts";

/*
 * Whole epochs, with all that may vary varied: the properties of protocol §7 and I6 that operators and state must have.
 */

const unlucky = 13;
const amountOf = ({ amount }: Value) => amount;

function makeTopology(allowedLateness: number): Topology {
  const sink = files.sink({ path: "out" });
  const keyed = pipeline("test", { keyGroups, onError: deadLetter(sink) })
    .from(files.source({ path: "in", value: text() }))
    .map((line) => JSON.parse(line) as Value)
    .keyBy(({ key }) => key);
  const risky = aggregate<Value, number[], number>({
    init: () => [],
    add(accumulator, { amount }) {
      accumulator.push(amount);
      if (amount === unlucky) throw new Error("unlucky");
      return accumulator;
    },
    merge: (accumulator, other) => [...accumulator, ...other],
    result: (accumulator) => accumulator.length,
  });
  keyed
    .window(tumbling(10), { id: "tumbling", allowedLateness, late: sink })
    .aggregate({ count: count(), list: collect(({ amount }) => amount), risky })
    .to(sink, { id: "counts" });
  const slid = keyed
    .window(sliding({ size: 25, every: 10 }), { id: "sliding", allowedLateness, late: sink })
    .aggregate({ total: sum(({ amount }) => amount), mean: average(({ amount }) => amount) })
    .to(sink, { id: "sums" });
  keyed
    .aggregate({ list: collect(({ amount }) => amount), risky }, { id: "running", expireAfter: 20 })
    .map((row, { timestamp }) => ({ ...row, timestamp }))
    .to(sink, { id: "updates" });
  const numbers = { count: count(), least: min(amountOf), most: max(amountOf) };
  keyed
    .window(sliding({ size: 25, every: 10 }), { id: "exact" })
    .aggregate(numbers)
    .to(sink, { id: "numbers" });
  keyed.aggregate(numbers, { id: "exactly" }).to(sink, { id: "latest" });
  return describe(slid);
}

test("given a plan, rows do not depend on tasks, batches, or where state comes from (I6)", async () => {
  const tasks = fc.option(
    fc.record({ source: fc.integer({ min: 1, max: 4 }), keyed: fc.integer({ min: 1, max: 5 }) }),
    { nil: undefined },
  );
  const choices = fc.record({
    batch: fc.integer({ min: 1, max: 6 }),
    tasks: fc.func(tasks),
    cold: fc.func(fc.boolean()),
  });
  await fc.assert(
    fc.asyncProperty(epochs, fc.constantFrom(0, 7), choices, async (list, lateness, varied) => {
      const topology = makeTopology(lateness);
      const rows = (results: EpochResult[]) => results.map((result) => result.rows);
      const expected = rows(await runAll(topology, list, alone));
      assert.deepEqual(rows(await runAll(topology, list, varied)), expected);
    }),
    { numRuns: 150 },
  );
});

test("sub-ranges that are added up before the shuffle come to the same, bytes of the state included, as each alone", async () => {
  const tasks = fc.constantFrom(undefined, { source: 1, keyed: 2 }, { source: 2, keyed: 1 });
  await fc.assert(
    fc.asyncProperty(epochs, fc.constantFrom(0, 7), tasks, async (list, lateness, share) => {
      const choices = { ...alone, tasks: () => share };
      const run = (apart: boolean) => runAll(makeTopology(lateness), list, { ...choices, apart });
      assert.deepEqual(await run(false), await run(true));
    }),
    { numRuns: 150 },
  );
});

/** What the engine shall do, record by record and without any of its parts. Of each epoch: rows, late rows and failures as texts. */
function naive(list: readonly Epoch[], lateness: number): { sums: string[]; late: string[] }[] {
  const state = new Map<string, { partials: number[]; key: string; start: number }>();
  return watermarks(list).map(({ before, after }, epoch) => {
    const late: string[] = [];
    const touched = new Set<string>();
    for (const values of list[epoch]!.subRanges) {
      const partials = new Map<string, number>();
      for (const { key, time, amount } of values) {
        for (let start = -100; start <= time; start += 10) {
          if (time >= start + 25) continue;
          const id = JSON.stringify([start, key]);
          if (before !== null && start + 25 + lateness <= before) late.push(JSON.stringify([key, time, start]));
          else partials.set(id, (partials.get(id) ?? 0) + amount);
        }
      }
      for (const [id, partial] of partials) {
        touched.add(id);
        const [start, key] = JSON.parse(id) as [number, string];
        const entry = state.get(id) ?? { partials: [], key, start };
        entry.partials.push(partial);
        state.set(id, entry);
      }
    }
    const sums: { group: number; start: number; bytes: string; text: string }[] = [];
    for (const [id, { partials, key, start }] of [...state]) {
      const end = start + 25;
      if (after === null || end > after) continue;
      if (before === null || before < end || touched.has(id)) {
        const total = partials.reduce((a, b) => a + b);
        sums.push({ ...placeOf(key), start, text: JSON.stringify([key, start, total]) });
      }
      if (end + lateness <= after) state.delete(id);
    }
    sums.sort((a, b) => a.group - b.group || a.start - b.start || (a.bytes < b.bytes ? -1 : 1));
    return { sums: sums.map((one) => one.text), late };
  });
}

test("results and late rows are those of a naive evaluation of the plan, in order, and nothing is in both or in neither", async () => {
  await fc.assert(
    fc.asyncProperty(epochs, fc.constantFrom(0, 7, 30), async (list, lateness) => {
      const topology = makeTopology(lateness);
      const slid = topology.nodes.find((node) => node.id === "sliding")!;
      const lateSink = slid.kind === "window" ? slid.late! : "";
      const results = await runAll(topology, list, alone);
      const found = results.map(({ rows }) => ({
        sums: (rows.sums ?? []).map((row) => {
          const { key, windowStart, total } = row as { key: string; windowStart: number; total: number };
          return JSON.stringify([key, windowStart, total]);
        }),
        late: (rows[lateSink] ?? []).map((row) => {
          const { key, timestamp, windowStart } = row as { key: string; timestamp: number; windowStart: number };
          return JSON.stringify([key, timestamp, windowStart]);
        }),
      }));
      assert.deepEqual(found, naive(list, lateness));
    }),
    { numRuns: 300 },
  );
});

test("with disorder within bounds, results do not depend on the cuts into epochs and sub-ranges", async () => {
  const outOfOrder = 15;
  const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 60 }), cuts, cuts, async (values, a, b) => {
      // Each record at most `outOfOrder` behind an earlier one.
      const ordered = values.map((one, at) => ({
        ...one,
        amount: 1,
        time: at * 2 - (Math.abs(one.time) % outOfOrder),
      }));
      const run = async (sizes: readonly number[]) => {
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
        list.push({ subRanges: [], step: 200 });
        const results = await runAll(makeTopology(0), list, alone);
        assert.ok(results.every(({ counts }) => counts.every(({ late }) => late === 0)));
        return results
          .flatMap(({ rows }) => [...(rows.counts ?? []), ...(rows.sums ?? [])])
          .map((row) => JSON.stringify(row))
          .sort();
      };
      assert.deepEqual(await run(a), await run(b));
    }),
    { numRuns: 60 },
  );
});
