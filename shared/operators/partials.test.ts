import assert from "node:assert/strict";
import { test } from "node:test";
import { InfrastructureError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import { pipeline } from "../pipeline/pipeline.ts";
import { tumbling } from "../pipeline/windows.ts";
import { countOf, keyOf } from "../state/entries.ts";
import { decodeKey, keyGroupOf } from "../state/key-codec.ts";
import { type Aggregate, collect, count, max, min, sum } from "./aggregates.ts";
import { encodePartials, type Partials, readPartials } from "./partials.ts";
import { SourceStage } from "./source-stage.ts";
import { batchOf } from "./test-support.ts";

const keyGroups = 16;

const counted = (aggregates: Record<string, Aggregate<string, number, number>>) =>
  describe(
    pipeline("test", { keyGroups })
      .from(files.source({ path: "in", value: text() }))
      .keyBy((value) => value)
      .window(tumbling(10))
      .aggregate(aggregates)
      .to(files.sink({ path: "out" })),
  );

const topology = describe(
  pipeline("test", { keyGroups })
    .from(files.source({ path: "in", value: text() }))
    .keyBy((value) => value)
    .window(tumbling(10))
    .aggregate({ count: count(), all: collect() })
    .to(files.sink({ path: "out" })),
);

test("what is exact in whatever portions comes with the last sub-range, or with each where windows are many; what is not, with each", () => {
  const windowsOf = (aggregates: Record<string, Aggregate<string, number, number>>, everyMs: number) => {
    const of = { topology: counted(aggregates), watermark: null, processingTime: 0, write: () => {} };
    const stage = new SourceStage(of);
    const records = Array.from({ length: 300 }, (_, at) => ({ value: String(at), timestamp: at * everyMs }));
    return [true, true, false].map((more) => {
      stage.begin("p");
      stage.process(batchOf(records));
      return stage.end(more).length;
    });
  };
  assert.deepEqual(windowsOf({ count: count(), most: max(Number), least: min(Number) }, 1), [0, 0, 30]);
  assert.deepEqual(windowsOf({ count: count(), most: max(Number) }, 10), [300, 300, 300]);
  assert.deepEqual(windowsOf({ count: count(), total: sum(Number) }, 1), [30, 30, 30]);
  assert.deepEqual(windowsOf({ count: { ...count(), merge: (own, other) => own + other } }, 1), [30, 30, 30]);
});

function partialsOf(...subRanges: string[][]): Partials[] {
  const stage = new SourceStage({ topology, watermark: null, processingTime: 0, write: () => {} });
  return subRanges.map((values) => {
    stage.begin("p");
    stage.process(batchOf(values.map((value, at) => ({ value, timestamp: at }))));
    return stage.end();
  });
}

/** Per sub-range: start, key, count and values, in order. */
function listed(partials: readonly Partials[]): unknown[][] {
  return partials.map((windows) =>
    windows.flatMap(({ start, entries }) =>
      Array.from({ length: countOf(entries) }, (_, at) => {
        const { bytes, ends } = entries.keys;
        const key = keyOf(entries, at);
        return [start, decodeKey(bytes, ends[key]!, ends[key + 1]!), ...entries.columns.map((column) => column[at])];
      }),
    ),
  );
}

function from(chunks: readonly Uint8Array[]) {
  const object = Buffer.concat(chunks);
  return async (range: { start: number; end: number }) => object.subarray(range.start, range.end);
}

const words = Array.from({ length: 60 }, (_, at) => `word-${at % 23}`);

test("every task finds its key groups' share of every sub-range, empty ones included", async () => {
  const subRanges = [words, [], words.toReversed(), []];
  const whole = listed(partialsOf(...subRanges));
  const object = from(encodePartials(partialsOf(...subRanges), keyGroups));
  const found: unknown[][] = [[], [], [], []];
  for (const groups of [
    { from: 0, to: 5 },
    { from: 5, to: 6 },
    { from: 6, to: 16 },
  ]) {
    const partials = await readPartials(object, groups);
    assert.equal(partials.length, 4);
    for (const { entries } of partials.flat()) {
      for (const hash of entries.keys.hashes) {
        const group = keyGroupOf(hash, keyGroups);
        assert.ok(groups.from <= group && group < groups.to);
      }
    }
    for (const [at, list] of listed(partials).entries()) found[at]!.push(...list);
  }
  const sorted = (list: unknown[][]) => list.map((entries) => entries.map((entry) => JSON.stringify(entry)).sort());
  assert.deepEqual(sorted(found), sorted(whole));
});

test("a missing or damaged object fails the attempt, not the pipeline", async () => {
  const groups = { from: 0, to: keyGroups };
  const unreadable = (error: unknown) =>
    error instanceof InfrastructureError && error.code === "shuffle-unreadable" && error.message.includes("e1.shuffle");
  await assert.rejects(
    readPartials(async () => undefined, groups, "e1.shuffle"),
    unreadable,
  );
  const object = Buffer.concat(encodePartials(partialsOf(words), keyGroups));
  for (let at = 0; at < object.length; at += 7) {
    const flipped = Buffer.from(object);
    flipped[at]! ^= 4;
    await assert.rejects(readPartials(from([flipped]), groups, "e1.shuffle"), unreadable);
  }
});
