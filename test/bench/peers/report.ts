import { formatTable } from "../../../examples/support/table.ts";
import type { Run } from "./run-engine.ts";

/** What goes to standard output of a run; figures of a run that failed are null. */
export function figuresOf(run: Run) {
  const { engine, records, jobSeconds, cpuSeconds, peakBytes, complaint } = run;
  return {
    engine: engine.name,
    records,
    epochMs: engine.epochMs,
    recordsPerSecond: finite(records / jobSeconds),
    recordsPerCpuSecond: finite(records / cpuSeconds),
    rssMiB: Math.round(peakBytes / 2 ** 20),
    correct: complaint === undefined,
  };
}

/** A line an engine: medians, and in parentheses the lowest and the highest. */
export function table(runs: readonly Run[]): string {
  const byEngine = Map.groupBy(runs, ({ engine }) => engine.name);
  const rows = [...byEngine].map(([engine, its]) => {
    const correct = its.filter(({ complaint }) => complaint === undefined).length;
    const spread = (figure: (run: Run) => number) => spreadOf(its.map(figure).filter(Number.isFinite));
    return {
      engine,
      "records/s": spread((run) => run.records / run.jobSeconds),
      "records per CPU s": spread((run) => run.records / run.cpuSeconds),
      "peak RSS MiB": spread((run) => run.peakBytes / 2 ** 20),
      "broker CPU s": spread((run) => run.brokerCpuSeconds),
      "other CPU s": spread((run) => run.otherCpuSeconds),
      correct: correct === its.length ? "yes" : `${correct} of ${its.length}`,
    };
  });
  return formatTable(rows);
}

function spreadOf(values: readonly number[]): string {
  const sorted = values.map(Math.round).sort((one, other) => one - other);
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  if (lowest === undefined || highest === undefined) return "–";
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
  return lowest === highest ? grouped(median) : `${grouped(median)} (${grouped(lowest)}–${grouped(highest)})`;
}

const grouped = (value: number) => value.toLocaleString("en");
const finite = (value: number) => (Number.isFinite(value) ? Math.round(value) : null);
