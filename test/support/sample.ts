import type { SeededRandom } from "../../shared/adapters/memory/random.ts";

/** All with `EPOCHFLOW_TEST_ALL=1`; otherwise at most `count` of each kind, by chance. */
export function sampleOfEach<T>(
  cases: readonly T[],
  count: number,
  random: SeededRandom,
  kindOf: (one: T) => string,
): readonly T[] {
  if (process.env.EPOCHFLOW_TEST_ALL) return cases;
  const kinds = Map.groupBy(cases, kindOf);
  return [...kinds.values()].flatMap((alike) => {
    const left = [...alike];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.below(left.length), 1)[0]!);
  });
}
