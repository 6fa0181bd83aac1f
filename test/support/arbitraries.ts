/** What the properties draw: jobs, inputs, and how they are cut into runs and epochs. */
import fc from "fast-check";
import { sliding, tumbling, type WindowAssigner } from "../../shared/index.ts";
import { type Input, type Job, line, type Reading } from "./readings.ts";

const size = fc.integer({ min: 1, max: 60 });
const window: fc.Arbitrary<WindowAssigner> = fc.oneof(
  size.chain((size) => offsetIn(size).map((offset) => tumbling(size, { offset }))),
  size.chain((size) =>
    fc
      .integer({ min: Math.ceil(size / 5), max: size })
      .chain((every) => offsetIn(every).map((offset) => sliding({ size, every, offset }))),
  ),
);
function offsetIn(every: number): fc.Arbitrary<number> {
  const other = fc.integer({ min: 1 - every, max: every - 1 });
  return fc.oneof(fc.constant(0), other);
}
export const job: fc.Arbitrary<Job> = fc.record({
  window,
  allowedLateness: fc.oneof(
    { weight: 1, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }) },
  ),
  outOfOrder: fc.integer({ min: 0, max: 20 }),
  expireAfter: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
});
const anyText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }).filter((text) => !/\s/.test(text));
const key = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom("a", "b", "c") },
  { weight: 1, arbitrary: fc.oneof(fc.constantFrom("__proto__", "1"), anyText) },
);
/** Sums of these depend on the order. */
const float = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((value) => value + 0);
/** Sums of these do not. */
export const exact = fc.integer({ min: -800, max: 800 }).map((value) => value / 8 + 0);

/** Lines of some files: some are no readings, and times go back and forth by at most `disorder`. */
export function input(value: fc.Arbitrary<number>, disorder: number): fc.Arbitrary<Input> {
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
export interface Portion {
  readonly input: Input;
  readonly hold: boolean;
}
export const portions: fc.Arbitrary<Portion[]> = fc.array(fc.record({ input: input(float, 60), hold: fc.boolean() }), {
  minLength: 1,
  maxLength: 2,
});

/** All that was there in the end. */
export function whole(portions: readonly Portion[]): Input {
  const files: Record<string, string[]> = {};
  for (const { input } of portions)
    for (const [name, lines] of Object.entries(input)) files[name] = [...(files[name] ?? []), ...lines];
  return files;
}

export const cutting = fc.record({ epochRecords: fc.integer({ min: 2, max: 20 }) });
export const seed = fc.nat();
