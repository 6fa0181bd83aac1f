/**
 * What a pipeline computes, in the three senses of protocol §7, against evaluations that share no code with the engine (`support/oracle.ts`).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Internals } from "../local/session.ts";
import { cutting, exact, input, job, portions, seed, whole } from "./support/arbitraries.ts";
import { chance, runPortions } from "./support/chance.ts";
import { readEpochs } from "./support/inspect.ts";
import { evaluateAtOnce, evaluatePlans } from "./support/oracle.ts";
import type { Input, Row } from "./support/readings.ts";

/** More with `EPOCHFLOW_TEST_RUNS`. A slow machine makes fewer, and so long is a failure made smaller. */
const runs = Number(process.env.EPOCHFLOW_TEST_RUNS ?? 15);
const check = { numRuns: runs, interruptAfterTimeLimit: 2000 * runs };

const asText = (row: unknown): string => JSON.stringify(row, (_, value) => sortedKeys(value));
const sortedKeys = (value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
const asBag = (rows: readonly unknown[]): string[] => rows.map(asText).sort();

/** The updates of each key and window, in order; of each key, where there are no windows. */
function updates(rows: readonly Row[]): Map<string, string[]> {
  const grouped = Map.groupBy(rows, ({ key, windowStart }) => asText([windowStart, key]));
  return new Map(
    [...grouped].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, all]) => [name, all.map(asText)]),
  );
}

const placeOf = ({ partition, offset, value }: Row): Row => ({ partition, offset, value });

type Epochs = Awaited<ReturnType<typeof readEpochs>>;
const lastWatermark = (row: Epochs[number] | undefined) => (row?.status === "decided" ? row.decision.watermark : null);

/** What a plan fixes, but for times and inodes. */
const fixed = ({ plan: { partitions, watermark, advanceTo } }: Epochs[number]) => ({
  ranges: partitions.map(({ id, from, to, cuts, idle, maxEventTime }) => [id, from, to, cuts, idle, maxEventTime]),
  watermark,
  advanceTo,
});

describe("what a pipeline computes", { concurrency: true }, () => {
  it("is, given the plan, the same bytes whatever the tasks, the attempts and the failures (I6)", async () => {
    const property = fc.asyncProperty(job, portions, cutting, seed, async (job, portions, options, seed) => {
      const result = (internals: Internals) =>
        runPortions(job, portions, options, internals, async (place) => ({
          output: await place.read(),
          plans: (await readEpochs(place.state)).map(fixed),
        }));
      const one = (_: unknown, stages: number) => Array.from({ length: stages }, () => 1);
      const plain = await result({ ...chance(0), chooseTasks: one });
      assert.deepEqual(await result(chance(seed)), plain);
      assert.deepEqual(await result(chance(seed, { crashes: true })), plain);
    });
    await fc.assert(property, check);
  });

  it("is what an evaluation of the recorded plan gives: each record and window in the results or late, never both", async () => {
    const property = fc.asyncProperty(job, portions, cutting, seed, async (job, portions, options, seed) => {
      await runPortions(job, portions, options, chance(seed, { crashes: true }), async (place) => {
        const epochs = await readEpochs(place.state);
        const expected = evaluatePlans(job, whole(portions), epochs);
        const output = await place.readRows();
        const watermarks = [...epochs.map(({ plan }) => plan.watermark), lastWatermark(epochs.at(-1))];
        assert.deepEqual(watermarks, expected.watermarks);
        assert.deepEqual(asBag(output.late), asBag(expected.late));
        assert.deepEqual(updates(output.rows), updates(expected.rows));
        assert.deepEqual(asBag(output.large), asBag(expected.large));
        assert.deepEqual(asBag(output.rejected.map(placeOf)), asBag(expected.rejected));
        assert.deepEqual(asBag(output.wide), asBag(expected.wide));
        assert.deepEqual(updates(output.running), updates(expected.running));
      });
    });
    await fc.assert(property, check);
  });

  it("does not depend on the cuts where no record is too far behind", async () => {
    // Within `outOfOrder` + `allowedLateness`; only one partition, since one that ends before the others is idle.
    const bounded = job.chain((job) =>
      fc.tuple(fc.constant(job), input(exact, job.outOfOrder + job.allowedLateness).map(firstFile)),
    );
    const property = fc.asyncProperty(bounded, cutting, seed, async ([job, lines], options, seed) => {
      const now = seed % (lines.length + 1);
      const portions = [
        { input: { a: lines.slice(0, now) }, hold: true },
        { input: { a: lines.slice(now) }, hold: false },
      ];
      const output = await runPortions(job, portions, options, chance(seed, { crashes: true }), (place) =>
        place.readRows(),
      );
      assert.deepEqual(output.late, []);
      const last = (rows: readonly Row[]) => [...updates(rows).values()].map((all) => all.at(-1)!).sort();
      const expected = evaluateAtOnce(job, { a: lines });
      assert.deepEqual(last(output.rows), asBag(expected.rows));
      if (job.allowedLateness === 0) assert.equal(output.rows.length, last(output.rows).length);
      // Lateness keeps windows open for those that are behind by more than `outOfOrder`, and not keys.
      if (job.allowedLateness === 0 || job.expireAfter === undefined)
        assert.deepEqual(last(output.running), asBag(expected.running));
    });
    await fc.assert(property, check);
  });
});

const firstFile = (input: Input): readonly string[] => Object.values(input)[0]!;
