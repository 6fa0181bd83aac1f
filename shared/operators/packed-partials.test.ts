import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { files } from "../pipeline/connectors/files.ts";
import { describe } from "../pipeline/describe.ts";
import { pipeline } from "../pipeline/pipeline.ts";
import type { Topology } from "../pipeline/topology.ts";
import { tumbling } from "../pipeline/windows.ts";
import { countOf, keyOf } from "../state/entries.ts";
import { keyGroupOf } from "../state/key-codec.ts";
import { collect, count, sum } from "./aggregates.ts";
import { packPartials, unpackPartials } from "./packed-partials.ts";
import { encodePartials, type Partials, readPartials } from "./partials.ts";
import { SourceStage } from "./source-stage.ts";
import { batchOf, shares } from "./test-support.ts";

const keyGroups = 16;

interface Value {
  readonly key: string | number;
  readonly time: number;
  readonly amount: number | null;
}

const stream = pipeline("test", { keyGroups })
  .from(files.source({ path: "in", value: (line): Value => JSON.parse(line), timestamp: ({ time }) => time }))
  .keyBy(({ key }) => key);
const aggregates = { count: count(), sum: sum<Value>(({ amount }) => amount ?? 0.1), all: collect<Value>() };
const windowed = describe(
  stream
    .window(tumbling(10))
    .aggregate(aggregates)
    .to(files.sink({ path: "out" })),
);
const running = describe(stream.aggregate(aggregates).to(files.sink({ path: "out" })));

const value = fc.record<Value>({
  key: fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  time: fc.integer({ min: -30, max: 80 }),
  amount: fc.option(fc.constantFrom(0.1, -0, 1e16, 13)),
});
const subRanges = fc.array(fc.array(value, { maxLength: 40 }), { maxLength: 4 });

function partialsOf(topology: Topology, given: readonly (readonly Value[])[]): Partials[] {
  const stage = new SourceStage({ topology, watermark: null, processingTime: 0, write: () => {} });
  return given.map((values) => {
    stage.begin("p");
    stage.process(batchOf(values.map((one) => ({ value: JSON.stringify(one), timestamp: one.time }))));
    return stage.end();
  });
}

/** What each key group has of each sub-range, in order; an object has a piece for each group. */
function byKeyGroup(partials: readonly Partials[]) {
  return partials.map((windows) => {
    const entries = windows.flatMap(({ operator, start, entries: given }) =>
      Array.from({ length: countOf(given) }, (_, at) => {
        const { keys, columns } = given;
        const key = keyOf(given, at);
        return {
          group: keyGroupOf(keys.hashes[key]!, keyGroups),
          entry: [
            operator,
            start,
            keys.hashes[key],
            keys.bytes.toString("hex", keys.ends[key], keys.ends[key + 1]),
            ...columns.map((column) => [column instanceof Float64Array, column[at]]),
          ],
        };
      }),
    );
    return Map.groupBy(entries, ({ group }) => group);
  });
}

for (const [what, topology] of Object.entries({ windows: windowed, "running aggregates": running }))
  test(`packed partials of ${what} are what a shuffle object gives each task`, async () => {
    await fc.assert(
      fc.asyncProperty(subRanges, fc.integer({ min: 1, max: 5 }), async (given, tasks) => {
        const object = Buffer.concat(encodePartials(partialsOf(topology, given), keyGroups));
        const ranges = shares(keyGroups, tasks);
        const packed = packPartials(partialsOf(topology, given), keyGroups, ranges);
        assert.equal(packed.length, tasks);
        for (const [task, groups] of ranges.entries()) {
          const expected = await readPartials(async ({ start, end }) => object.subarray(start, end), groups);
          const moved = structuredClone(packed[task]!, { transfer: [packed[task]!.buffer] });
          const [found, again] = [unpackPartials(moved), unpackPartials(moved)];
          assert.deepEqual(byKeyGroup(found), byKeyGroup(expected));
          assert.deepEqual(found, again, "a task that is tried again gets the same");
        }
      }),
      { numRuns: 60 },
    );
  });
