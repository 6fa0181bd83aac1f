import { faultName } from "./faults.ts";
import { type Outcome, type Subject, simulate } from "./simulate.ts";

/** Runs that a shrinker may take. */
const mostRuns = 300;

/**
 * Reduces a failing run to the fewest faults with which it still breaks the same invariant, by delta debugging (Zeller and Hildebrandt, "Simplifying and
 * Isolating Failure-Inducing Input", 2002). Returns that run, with its timeline.
 */
export async function shrink(subject: Subject, failing: Outcome): Promise<Outcome> {
  const { seed } = failing;
  const invariant = failing.violation?.invariant;
  let runs = 0;
  const fails = async (names: readonly string[]): Promise<boolean> => {
    if (runs++ >= mostRuns) return false;
    const { violation } = await simulate(subject, { seed, only: new Set(names) });
    return violation?.invariant === invariant;
  };
  let names = failing.faults.map(faultName);
  for (let pieces = 2; names.length > 0 && runs < mostRuns; ) {
    const size = Math.ceil(names.length / pieces);
    let smaller: string[] | undefined;
    for (let at = 0; at < names.length && !smaller; at += size) {
      const rest = [...names.slice(0, at), ...names.slice(at + size)];
      if (await fails(rest)) smaller = rest;
    }
    if (smaller) {
      names = smaller;
      pieces = Math.max(2, pieces - 1);
    } else if (size === 1) break;
    else pieces = Math.min(names.length, pieces * 2);
  }
  return await simulate(subject, { seed, only: new Set(names), trace: true });
}
