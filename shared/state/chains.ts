import type { ChainRun } from "../epoch/epoch.ts";
import type { Link } from "./link.ts";
import type { GroupRange } from "./stage-state.ts";

/** The chain of each key group of a range, from runs that may cover less; a group that none covers has no state. */
export function expandChains(runs: readonly ChainRun[], { from, to }: GroupRange): (readonly string[])[] {
  const chains: (readonly string[])[] = Array.from({ length: to - from }, () => []);
  for (const run of runs) {
    for (let group = Math.max(from, run.from); group < Math.min(to, run.to); group++) {
      chains[group - from] = run.objects;
    }
  }
  return chains;
}

/** The fewest runs that say the same. */
export function mergeChains(chains: readonly (readonly string[])[], from: number): ChainRun[] {
  const runs: { from: number; to: number; objects: readonly string[] }[] = [];
  for (const [index, objects] of chains.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && sameChain(last.objects, objects)) last.to = from + index + 1;
    else runs.push({ from: from + index, to: from + index + 1, objects });
  }
  return runs;
}

export function sameChain(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((key, index) => key === b[index]));
}

/** The keys of a chain's objects. */
export function objectsOf(chain: readonly Link[]): string[] {
  return chain.map(({ object }) => object);
}

export function sameObjects(a: readonly Link[], b: readonly Link[]): boolean {
  return a.length === b.length && a.every(({ object }, index) => object === b[index]!.object);
}
