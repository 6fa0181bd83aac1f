import type { Campaign } from "./campaign.ts";
import { faultKinds } from "./faults.ts";
import type { Outcome } from "./simulate.ts";

/** What was done to the pipeline, and where it has been. */
export function describeCampaign(
  { firstSeed, runs, steps, epochs, faults, states }: Campaign,
  seconds: number,
): string {
  const kinds = Object.keys(faultKinds).map((kind): [string, number] => [kind, faults.get(kind) ?? 0]);
  const rate = (runs / Math.max(seconds, 0.001)).toFixed(1);
  const last = firstSeed + runs - 1;
  return [
    "Faults injected, by kind:",
    ...table(kinds),
    "States reached:",
    ...table([...states].sort(([one], [other]) => (one < other ? -1 : 1))),
    `Seeds ${firstSeed} to ${last}: ${runs} runs in ${Math.round(seconds)} s (${rate} a second), ${epochs} epochs, ${steps} steps.`,
  ].join("\n");
}

/** A run that broke something, as a person can read it: what went wrong, the faults that it takes, and what happened. */
export function describeFailure({ seed, violation, faults, timeline }: Outcome, original: Outcome): string {
  return [
    `Timeline of seed ${seed}, with the ${faults.length} of ${original.faults.length} faults that it takes ("!" marks one):`,
    ...timeline.map((line) => `  ${line}`),
    `${violation?.invariant ?? original.violation?.invariant}: ${violation?.message ?? original.violation?.message}`,
  ].join("\n");
}

function table(rows: readonly (readonly [string, number])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, count]) => `  ${name.padEnd(width)}  ${String(count).padStart(9)}`);
}
