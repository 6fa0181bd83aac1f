import assert from "node:assert/strict";
import { test } from "node:test";
import { UserCodeError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { StateStore } from "../state/state-store.ts";
import { aggregate, collect, count, sum } from "./aggregates.ts";
import { batchOf, type EpochResult, runEpoch, TestObjects } from "./test-support.ts";

const sink = files.sink({ path: "out" });

function keyed(options: PipelineOptions = {}) {
  return pipeline("test", { keyGroups: 4, ...options })
    .from(files.source({ path: "in", value: text(), timestamp: (value) => Number(value.split("@")[1]) }))
    .keyBy((value) => value.split("@")[0]!);
}

/** Runs epochs one after the other; each is its values and the watermark after it. */
async function runAll(
  topology: Topology,
  epochs: readonly [values: string[], after: number | null][],
  tasks?: { source: number; keyed: number },
): Promise<EpochResult[]> {
  const objects = new TestObjects();
  const store = new StateStore(objects);
  const results: EpochResult[] = [];
  let before: number | null = null;
  for (const [epoch, [values, after]] of epochs.entries()) {
    const subRanges = [{ partition: "p", batches: [batchOf(values.map((value) => ({ value })))] }];
    const chains = results.at(-1)?.chains ?? [];
    results.push(
      await runEpoch(topology, store, objects, { epoch, subRanges, before, after, chains, ...(tasks && { tasks }) }),
    );
    before = after;
  }
  return results;
}

const counts = (options: { allowedLateness?: number } = {}) =>
  describe(keyed().window(tumbling(10), options).aggregate({ n: count() }).to(sink, { id: "out" }));
const row = (key: string, windowStart: number, n: unknown) => ({ key, windowStart, windowEnd: windowStart + 10, n });

test("a window fires once the watermark reaches its end, and is gone then", async () => {
  const [first, second, third] = await runAll(counts(), [
    [["a@1", "b@12"], 9],
    [["a@2"], 10],
    [[], 30],
  ]);
  assert.deepEqual(first!.rows, {});
  assert.deepEqual(first!.open, [{ nextFire: 10, openUntil: 20 }]);
  assert.deepEqual(second!.rows.out, [row("a", 0, 2)]);
  assert.deepEqual(second!.open, [{ nextFire: 20, openUntil: 20 }]);
  assert.deepEqual(third!.rows.out, [row("b", 10, 1)]);
  assert.deepEqual(third!.open, [{ nextFire: null, openUntil: null }]);
  assert.deepEqual(third!.chains, [{ from: 0, to: 4, objects: [] }]);
  assert.equal(third!.counts.at(-1)!.rows.out, 1);
});

test("without a watermark nothing fires", async () => {
  const [first, second] = await runAll(counts(), [
    [["a@1"], null],
    [["a@2"], 10],
  ]);
  assert.deepEqual(first!.rows, {});
  assert.deepEqual(second!.rows.out, [row("a", 0, 2)]);
});

test("within the allowed lateness the keys that changed fire again", async () => {
  const [first, second, third, fourth] = await runAll(counts({ allowedLateness: 5 }), [
    [["a@1", "b@1"], 12],
    [["b@2", "c@3"], 13],
    [[], 14],
    [["d@4"], 15],
  ]);
  const sorted = (result: EpochResult) =>
    (result.rows.out as { key: string }[]).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  assert.deepEqual(sorted(first!), [row("a", 0, 1), row("b", 0, 1)]);
  assert.deepEqual(first!.open, [{ nextFire: null, openUntil: null }]);
  assert.deepEqual(sorted(second!), [row("b", 0, 2), row("c", 0, 1)]);
  assert.deepEqual(third!.rows, {});
  assert.deepEqual(fourth!.rows.out, [row("d", 0, 1)]);
  assert.deepEqual(fourth!.chains, [{ from: 0, to: 4, objects: [] }]);
});

test("a window whose first record comes after its end fires now", async () => {
  const [, second] = await runAll(counts({ allowedLateness: 20 }), [
    [["a@15"], 12],
    [["b@3"], 13],
  ]);
  assert.deepEqual(second!.rows.out, [row("b", 0, 1)]);
});

test("rows go through the chain that follows, with the last millisecond of the window as their time", async () => {
  const stream = keyed()
    .window(sliding({ size: 10, every: 5 }))
    .aggregate({ n: count() })
    .filter(({ windowStart }) => windowStart === 0)
    .map(({ key, n }, { timestamp, partition, offset }) => ({ key, n, timestamp, partition, offset }));
  const [first] = await runAll(describe(stream.to(sink, { id: "out" })), [[["a@1", "a@6"], 100]]);
  assert.deepEqual(first!.rows.out, [{ key: "a", n: 2, timestamp: 9, partition: "", offset: -1 }]);
});

test("what a row's consumer does to it does not reach the state", async () => {
  const stream = keyed()
    .window(tumbling(10), { allowedLateness: 100 })
    .aggregate({ list: collect((value) => [value]) })
    .map(({ list }) => {
      for (const item of list) item.push("changed");
      return list.map((item) => item.length);
    });
  const results = await runAll(describe(stream.to(sink, { id: "out" })), [
    [["a@1"], 10],
    [["a@2"], 11],
  ]);
  const lengths = results.map(({ rows }) => rows.out);
  assert.deepEqual(lengths, [[[2]], [[2, 2]]]);
});

const fragile = aggregate<string, number[], number>({
  init: () => [],
  add: (accumulator, value) => [...accumulator, Number(value.split("@")[1])],
  merge(accumulator, other) {
    accumulator.push(...other);
    if (accumulator.includes(7)) throw new Error("merge");
    return accumulator;
  },
  result(accumulator) {
    if (accumulator.includes(8)) throw new Error("result");
    return accumulator.length;
  },
});

const failing = (options: PipelineOptions) =>
  describe(
    keyed(options)
      .window(tumbling(10), { id: "w" })
      .aggregate({ n: fragile })
      .map(({ n, key }) => {
        if (n === 3) throw new Error("map");
        return `${key}${n}`;
      })
      .to(sink, { id: "out" }),
  );

test("merge, result and what follows fail the epoch, under skip too", async () => {
  const cases: [string[], string[], RegExp][] = [
    [["a@1"], ["a@7"], /"w".*window that starts at 0: merge/],
    [["a@8"], [], /"w".*window that starts at 0: result/],
    [["a@1", "a@1", "a@1"], [], /"map-1".*window that starts at 0: map/],
  ];
  for (const onError of ["fail", "skip"] as const) {
    for (const [first, second, message] of cases) {
      await assert.rejects(
        runAll(failing({ onError }), [
          [first, 0],
          [second, 10],
        ]),
        (error) => error instanceof UserCodeError && error.code === "function-failed" && message.test(error.message),
      );
    }
  }
});

test("under deadLetter the derived rows are dead letters, in the same order for any number of tasks", async () => {
  const topology = failing({ onError: deadLetter(files.sink({ path: "rejected" })) });
  const keys = ["a", "b", "c", "d", "e", "f"];
  const epochs: [string[], number][] = [
    [keys.flatMap((key) => [`${key}@1`, `${key}@8`, `${key}1@1`, `${key}1@1`]), 0],
    [keys.flatMap((key) => [`${key}@7`, `${key}1@1`, `${key}2@4`]), 10],
  ];
  const [, fused] = await runAll(topology, epochs);
  for (const tasks of [
    { source: 1, keyed: 1 },
    { source: 1, keyed: 3 },
  ]) {
    const [, split] = await runAll(topology, epochs, tasks);
    assert.deepEqual(split!.rows, fused!.rows);
  }
  assert.deepEqual(
    (fused!.rows.out as string[]).toSorted(),
    keys.map((key) => `${key}21`),
  );
  const letters = fused!.rows["dead-letter"] as { key: string; error: string; operator: string }[];
  assert.equal(letters.length, 18);
  assert.equal(fused!.counts.at(-1)!.deadLettered, 18);
  const common = { partition: "", offset: -1, windowStart: 0, windowEnd: 10 };
  assert.deepEqual(
    letters.filter(({ key }) => key === "a" || key === "a1").toSorted((a, b) => (a.error < b.error ? -1 : 1)),
    [
      {
        ...common,
        error: "map",
        operator: "map-1",
        value: { key: "a1", windowStart: 0, windowEnd: 10, n: 3 },
        key: "a1",
      },
      { ...common, error: "merge", operator: "w", value: { n: [7] }, key: "a" },
      { ...common, error: "result", operator: "w", value: { n: [1, 8] }, key: "a" },
    ],
  );
});

test("many rows come in batches", async () => {
  const values = Array.from({ length: 10_000 }, (_, at) => `key-${at}@1`);
  const topology = describe(
    keyed()
      .window(tumbling(10))
      .aggregate({ n: count(), s: sum(() => 0.5) })
      .to(sink, { id: "out" }),
  );
  const [result] = await runAll(topology, [[values, 10]]);
  assert.equal(result!.rows.out!.length, 10_000);
  assert.equal(new Set(result!.rows.out!.map((one) => (one as { key: string }).key)).size, 10_000);
});
