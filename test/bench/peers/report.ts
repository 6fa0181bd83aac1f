/** What the reports of all parts have in common. */
import { baseline, type Engine } from "./engines.ts";

export interface Checked {
  readonly engine: Engine;
  readonly round: number;
  /** What is wrong with the results, or why there are none. */
  readonly complaint: string | undefined;
}

export const byEngine = <Run extends Checked>(runs: readonly Run[]) =>
  [...Map.groupBy(runs, ({ engine }) => engine.name)].map(([engine, its]) => ({ engine, its, right: rightOf(its) }));

export const rightOf = <Run extends Checked>(runs: readonly Run[]) =>
  runs.filter(({ complaint }) => complaint === undefined);

export function correctCell(its: readonly Checked[]): string {
  const right = rightOf(its).length;
  return right === its.length ? "yes" : `${right} of ${its.length}`;
}

/** How a line of a run begins. */
export function headOf(part: string, { engine, round }: Checked) {
  return { part, engine: engine.name, round, epochMs: engine.epochMs };
}

/** How it ends. */
export function verdictOf({ complaint }: Checked) {
  return complaint === undefined ? { correct: true } : { correct: false, complaint };
}

/** The right runs of Flink, with which all others are compared. */
export const baselineOf = <Run extends Checked>(runs: readonly Run[]) =>
  rightOf(runs.filter(({ engine }) => engine.name === baseline));
