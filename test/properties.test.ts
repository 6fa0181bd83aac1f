/**
 * What a pipeline computes, in the three senses of protocol §7, against evaluations that share no code with the engine (`support/oracle.ts`).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RunOptions } from "../local/options.ts";
import type { Internals } from "../local/session.ts";
import { SeededRandom } from "../shared/adapters/memory/random.ts";
import { InfrastructureError } from "../shared/errors.ts";
import { sliding, tumbling, type WindowAssigner } from "../shared/index.ts";
import { temporaryFolder } from "./support/folder.ts";
import { readEpochs } from "./support/inspect.ts";
import { evaluateAtOnce, evaluatePlans } from "./support/oracle.ts";
import { type Around, around, copyOf, synchronous } from "./support/ports.ts";
import { type Input, type Job, line, type Reading, type Row, Workplace } from "./support/readings.ts";

/** More runs: `EPOCHFLOW_TEST_RUNS`. A slow machine makes fewer; a failure is made smaller for so long. */
const check = { numRuns: Number(process.env.EPOCHFLOW_TEST_RUNS ?? 60), interruptAfterTimeLimit: 60_000 };

// ---- what is drawn

const size = fc.integer({ min: 1, max: 60 });
const window: fc.Arbitrary<WindowAssigner> = fc.oneof(
  size.map(tumbling),
  size.chain((size) => fc.integer({ min: Math.ceil(size / 5), max: size }).map((every) => sliding({ size, every }))),
);
const job: fc.Arbitrary<Job> = fc.record({
  window,
  allowedLateness: fc.oneof(
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }) },
  ),
  outOfOrder: fc.integer({ min: 0, max: 20 }),
});
const anyText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }).filter((text) => !/\s/.test(text));
const key = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom("a", "b", "c") },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom("__proto__", "1"), anyText) },
);
/** Sums of these depend on the order. */
const float = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((value) => value + 0);
/** Sums of these do not. */
const exact = fc.integer({ min: -800, max: 800 }).map((value) => value / 8 + 0);

/** Lines of some files: some are no readings, and times go back and forth by at most `disorder`. */
function input(value: fc.Arbitrary<number>, disorder: number): fc.Arbitrary<Input> {
  const step = fc.record({
    forward: fc.integer({ min: 0, max: 6 }),
    behind: fc.integer({ min: 0, max: disorder }),
    key,
    value,
  });
  const lines = fc.array(fc.oneof({ weight: 12, arbitrary: step }, { weight: 1, arbitrary: fc.constant(null) }), {
    minLength: 1,
    maxLength: 50,
    size: "max",
  });
  const files = fc.dictionary(fc.constantFrom("a", "b", "c"), lines, { minKeys: 1 });
  return files.map((drawn) => Object.fromEntries(Object.entries(drawn).map(([name, steps]) => [name, linesOf(steps)])));
}

interface Step extends Omit<Reading, "time"> {
  readonly forward: number;
  readonly behind: number;
}

function linesOf(steps: readonly (Step | null)[]): string[] {
  let now = 0;
  return steps.map((step) => {
    if (step === null) return "no reading";
    now += step.forward;
    return line({ time: now - step.behind, key: step.key, value: step.value });
  });
}

/** What is there when a run begins, beside what was there before; and whether that run holds windows open at its end. */
interface Portion {
  readonly input: Input;
  readonly hold: boolean;
}
const portions: fc.Arbitrary<Portion[]> = fc.array(fc.record({ input: input(float, 60), hold: fc.boolean() }), {
  minLength: 1,
  maxLength: 2,
});

/** All that was there in the end. */
function whole(portions: readonly Portion[]): Input {
  const files: Record<string, string[]> = {};
  for (const { input } of portions)
    for (const [name, lines] of Object.entries(input)) files[name] = [...(files[name] ?? []), ...lines];
  return files;
}

const cutting = fc.record({ epochRecords: fc.integer({ min: 2, max: 20 }) });
const seed = fc.nat();

// ---- how it runs

/** Task counts and sub-ranges by chance, and with `crashes` port calls that fail by chance, before or after their effect. */
function chance(seed: number, { crashes = false, pieceBytes = 60 } = {}): Internals {
  const random = new SeededRandom(seed);
  const fail: Around = (method, call) => {
    const dice = crashes ? random.below(500) : 2;
    const error = new InfrastructureError("injected", method);
    if (synchronous.has(method)) {
      if (dice === 0) throw error;
      return call();
    }
    if (dice === 0) return Promise.reject(error) as never;
    return dice === 1 ? ((call() as Promise<unknown>).then(() => Promise.reject(error)) as never) : call();
  };
  return {
    chooseTasks: (_, stages) => Array.from({ length: stages }, () => Math.max(1, random.below(7) - 2)),
    engine: (engine) => {
      const split = (range: Parameters<typeof engine.source.split>[0]) => engine.source.split(range, pieceBytes);
      const cut = {
        ...engine,
        source: { ...copyOf(engine.source), split },
        policy: { ...engine.policy, backOffMs: 1 },
      };
      return around(cut, fail);
    },
  };
}

/** In a folder of its own, portion by portion. Each runs until all is done, as often as it takes. */
async function run<T>(
  job: Job,
  portions: readonly Portion[],
  options: RunOptions,
  internals: Internals,
  look: (place: Workplace) => Promise<T>,
): Promise<T> {
  using folder = temporaryFolder();
  const place = new Workplace(folder.path, job);
  for (const { input, hold } of portions) {
    for (const [name, lines] of Object.entries(input)) place.append(name, lines);
    await finish(place, { ...options, hold }, internals);
  }
  return await look(place);
}

async function finish(place: Workplace, options: RunOptions, internals: Internals): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const result = await place.run(options, internals).catch((error: unknown) => {
      if (error instanceof InfrastructureError) return { outcome: "failed", error };
      throw error;
    });
    if (result.outcome === "done" || result.outcome === "nothing-new") return;
    assert.equal(result.outcome, "failed", JSON.stringify(result.error));
  }
  assert.fail("it never ends");
}

// ---- what is compared

const asText = (row: unknown): string => JSON.stringify(row, (_, value) => sortedKeys(value));
const sortedKeys = (value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
const asBag = (rows: readonly unknown[]): string[] => rows.map(asText).sort();

/** The updates of each key and window, in order. */
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
        run(job, portions, options, internals, async (place) => ({
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
      await run(job, portions, options, chance(seed, { crashes: true }), async (place) => {
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
      const output = await run(job, portions, options, chance(seed, { crashes: true }), (place) => place.readRows());
      assert.deepEqual(output.late, []);
      const last = [...updates(output.rows).values()].map((all) => all.at(-1)!);
      assert.deepEqual(last.sort(), asBag(evaluateAtOnce(job, { a: lines })));
      if (job.allowedLateness === 0) assert.equal(output.rows.length, last.length);
    });
    await fc.assert(property, check);
  });
});

const firstFile = (input: Input): readonly string[] => Object.values(input)[0]!;
