import type { RoundResult } from "./campaign.ts";
import type { Target } from "./options.ts";
import { Tally } from "./tally.ts";

const sorts = { kill: "kills", pause: "pauses", reset: "resets", more: "others" } as const;

/** All rounds in one. */
function totalsOf(results: readonly RoundResult[]) {
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
  const seeds = results.map(({ seed }) => seed);
  const verdict = failed === 0 ? "outputs exact" : "FAILED";
  return `${table.join("\n")}\n\n${rounds} rounds (seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}), ${minutes} minutes, ${epochs} epochs, ${rows} rows compared: ${verdict}`;
}

/** What another run has to know to have it again. */
export function describeFailure({ seed, problems, kept }: RoundResult, timeline: string): string {
  const again = `Again: --seed ${seed} --rounds 1`;
  const where = kept === undefined ? again : `Everything is kept in ${kept}. ${again}`;
  return `Round with seed ${seed} failed:\n${problems.join("\n")}\n\n${timeline}\n${where}`;
}

/** A line of a results file. */
export function asJson({ tally, seconds, ...others }: RoundResult, target: Target): object {
  return { target, ...others, seconds: Math.round(seconds), counts: tally.counts, at: new Date().toISOString() };
}

/** @throws Error for what `asJson` has not made */
export function fromJson(line: string): { target: Target; result: RoundResult } {
  const { target, counts, ...others } = JSON.parse(line);
  const tally = new Tally();
  for (const { name, sort, count } of counts) tally.add(name, sort, count);
  return { target, result: { ...others, tally } };
}
