import type { RoundResult } from "./campaign.ts";
import { Tally } from "./tally.ts";

const sorts = { kill: "kills", pause: "pauses", reset: "resets", more: "others" } as const;

/** All rounds in one. */
export function totalsOf(results: readonly RoundResult[]) {
  const tally = new Tally();
  for (const result of results) tally.addAll(result.tally);
  const sum = (one: (result: RoundResult) => number) => results.reduce((total, result) => total + one(result), 0);
  return {
    rounds: results.length,
    minutes: Math.round(sum(({ seconds }) => seconds) / 6) / 10,
    epochs: sum(({ epochs }) => epochs),
    rows: sum(({ rows }) => rows),
    tally,
    failed: results.filter(({ problems }) => problems.length > 0).length,
  };
}

/** A line, while it goes on. */
export function describeRound({ seed, title, seconds, tally, epochs, rows, problems }: RoundResult): string {
  const verdict = problems.length === 0 ? "exact" : `FAILED, ${problems.length} problems`;
  return `seed ${seed}: ${verdict}; ${Math.round(seconds)} s, ${tally.hard} kills, pauses and resets and ${tally.of("more")} others, ${epochs} epochs, ${rows} rows (${title})`;
}

/** A table of kinds, and what came of all. */
export function describeCampaign(results: readonly RoundResult[]): string {
  const { rounds, minutes, epochs, rows, tally, failed } = totalsOf(results);
  const width = Math.max(10, ...tally.counts.map(({ name }) => name.length));
  const table = Object.entries(sorts).flatMap(([sort, name]) => [
    `${name.padEnd(width + 2)}  ${String(tally.of(sort as keyof typeof sorts)).padStart(6)}`,
    ...tally.counts
      .filter((row) => row.sort === sort)
      .map((row) => `  ${row.name.padEnd(width)}  ${String(row.count).padStart(6)}`),
  ]);
  const seeds = `seeds ${results[0]?.seed} to ${results.at(-1)?.seed}`;
  const verdict = failed === 0 ? "outputs exact" : "FAILED";
  return `${table.join("\n")}\n\n${rounds} rounds (${seeds}), ${minutes} minutes, ${epochs} epochs, ${rows} rows compared: ${verdict}`;
}

/** What another run has to know to have it again. */
export function describeFailure({ seed, problems, kept }: RoundResult, timeline: string): string {
  return `Round with seed ${seed} failed:\n${problems.join("\n")}\n\n${timeline}\nEverything is kept in ${kept}. Again: --seed ${seed} --rounds 1`;
}

export function asJson(result: RoundResult, target: string): object {
  const { tally, seconds, ...others } = result;
  return { kind: "round", target, ...others, seconds: Math.round(seconds), counts: countsOf(tally) };
}

export function totalsAsJson(results: readonly RoundResult[], target: string): object {
  const { tally, ...totals } = totalsOf(results);
  const seeds = [results[0]?.seed, results.at(-1)?.seed];
  return { kind: "campaign", target, seeds, ...totals, hard: tally.hard, counts: countsOf(tally) };
}

const countsOf = (tally: Tally) => Object.fromEntries(tally.counts.map(({ name, count }) => [name, count]));
