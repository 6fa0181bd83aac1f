import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChainRun } from "../epoch/epoch.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { deadLetter, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { ByteWriter } from "../state/bytes.ts";
import { encodeKey, hashKey, keyGroupOf } from "../state/key-codec.ts";
import { StateStore } from "../state/state-store.ts";
import { aggregate, average, collect, count, sum } from "./aggregates.ts";
import { batchOf, type EpochResult, runEpoch, TestObjects, type TestSubRange } from "./test-support.ts";

/*
 * Whole epochs, with all that may vary varied: the properties of protocol §7 and I6 that operators and state must have.
 */

interface Value {
  readonly key: string;
  readonly time: number;
  readonly amount: number;
}

/** The sub-ranges of an epoch, each with its records, and W(n) after it. */
interface Epoch {
  readonly subRanges: readonly (readonly Value[])[];
  readonly step: number;
}

const value = fc.record<Value>({
  key: fc.constantFrom("a", "b", "c", "d", "e", "", "__proto__", "é"),
  time: fc.integer({ min: -30, max: 80 }),
  // Sums of these depend on the order in which they are added.
  amount: fc.constantFrom(0.1, 0.2, 0.3, 1e16, -1e16, 1, 13),
});
const epochs = fc.array(
  fc.record<Epoch>({
    subRanges: fc.array(fc.array(value, { maxLength: 15 }), { maxLength: 4 }),
    step: fc.integer({ min: 0, max: 25 }),
  }),
  { minLength: 1, maxLength: 5 },
);

const unlucky = 13;
const keyGroups = 5;

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
  return describe(slid);
}

type Tasks = { source: number; keyed: number } | undefined;

interface Choices {
  /** Records a batch. */
  readonly batch: number;
  readonly tasks: (epoch: number) => Tasks;
  /** Whether an epoch begins without warm state. */
  readonly cold: (epoch: number) => boolean;
}

async function runAll(
  topology: Topology,
  list: readonly Epoch[],
  { batch, tasks, cold }: Choices,
): Promise<EpochResult[]> {
  const objects = new TestObjects();
  let store = new StateStore(objects);
  const results: EpochResult[] = [];
  let chains: ChainRun[] = [];
  for (const [epoch, { before, after }] of watermarks(list).entries()) {
    if (cold(epoch)) store = new StateStore(objects);
    const share = tasks(epoch);
    const subRanges = list[epoch]!.subRanges.map((values) => inBatches(values, batch));
    const result = await runEpoch(topology, store, objects, {
      epoch,
      subRanges,
      before,
      after,
      chains,
      ...(share && { tasks: share }),
    });
    results.push(result);
    chains = result.chains;
  }
  return results;
}

function inBatches(values: readonly Value[], size: number): TestSubRange {
  const records = values.map((one) => ({ value: JSON.stringify(one), timestamp: one.time }));
  const starts = Array.from({ length: Math.ceil(records.length / size) }, (_, at) => at * size);
  return { partition: "p", batches: starts.map((start) => batchOf(records.slice(start, start + size), start * 10)) };
}

function watermarks(list: readonly Epoch[]): { before: number | null; after: number | null }[] {
  let before: number | null = null;
  return list.map(({ step }) => {
    const after: number | null = before === null && step === 0 ? null : (before ?? -30) + step;
    const pair = { before, after };
    before = after;
    return pair;
  });
}

const alone: Choices = { batch: 1000, tasks: () => undefined, cold: () => false };

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

function placeOf(key: string): { group: number; bytes: string } {
  const writer = new ByteWriter();
  encodeKey(writer, key);
  return {
    group: keyGroupOf(hashKey(writer.bytes, 0, writer.length), keyGroups),
    bytes: writer.view().toString("hex"),
  };
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
