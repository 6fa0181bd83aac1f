import { formatTable } from "../../examples/support/table.ts";
import type { Measurement } from "./measure.ts";
import type { PartFigures } from "./parts/part.ts";
import type { Phase } from "./phases.ts";

/** What a whole pipeline came to. */
export interface JobFigures {
  readonly job: string;
  readonly about: string;
  readonly runs: readonly Measurement[];
  /** Shares of the CPU time. */
  readonly phases: ReadonlyMap<Phase, number>;
  readonly protocolMsAnEpoch: number;
}

export function figuresOf({ records, rows, epochs, elapsedMs, cpuMs, peakBytes }: Measurement) {
  const linesASecond = Math.round((records / elapsedMs) * 1000);
  return { linesASecond, elapsedMs, cpuMicrosecondsALine: (cpuMs * 1000) / records, peakBytes, epochs, rows };
}

/** The run whose CPU time is the median. */
export function medianRun(runs: readonly Measurement[]): Measurement {
  return runs.toSorted((one, other) => one.cpuMs - other.cpuMs)[runs.length >> 1]!;
}

/** Microseconds of CPU a line: what was measured without the profiler, in the shares that the profiler saw. */
export function phasesOf({ runs, phases }: JobFigures): [Phase, number][] {
  const { cpuMicrosecondsALine } = figuresOf(medianRun(runs));
  return [...phases].map(([phase, share]) => [phase, share * cpuMicrosecondsALine]);
}

export function jobTable(jobs: readonly JobFigures[]): string {
  return formatTable(
    jobs.flatMap(({ job, runs }) => {
      const rows = runs.map((run, index) => ({ job: index === 0 ? job : "", run: String(index + 1), ...cells(run) }));
      return runs.length > 1 ? [...rows, { job: "", run: "median", ...cells(medianRun(runs)) }] : rows;
    }),
  );
}

export function phaseTable(jobs: readonly JobFigures[]): string {
  const columns = jobs.map((job) => ({ name: job.job, phases: new Map(phasesOf(job)) }));
  const rows = [...columns[0]!.phases.keys()].map((phase) => ({
    "CPU µs a line": phase,
    ...Object.fromEntries(columns.map(({ name, phases }) => [name, phases.get(phase)!.toFixed(2)])),
  }));
  const sum = (phases: ReadonlyMap<Phase, number>) => phases.values().reduce((total, one) => total + one, 0);
  const total = Object.fromEntries(columns.map(({ name, phases }) => [name, sum(phases).toFixed(2)]));
  return formatTable([...rows, { "CPU µs a line": "all", ...total }]);
}

export function partTable(parts: readonly PartFigures[]): string {
  const longest = Math.max(...parts.map(({ about }) => about.length));
  return formatTable(
    parts.map(({ part, about, unit, units, cpuMicroseconds }) => ({
      part,
      "CPU µs": cpuMicroseconds.toFixed(cpuMicroseconds < 0.1 ? 3 : 2),
      "": `a ${unit}`.padEnd(8),
      of: grouped(units),
      about: about.padEnd(longest),
    })),
  );
}

function cells(run: Measurement): Record<string, string> {
  const { linesASecond, elapsedMs, cpuMicrosecondsALine, peakBytes, epochs, rows } = figuresOf(run);
  return {
    "lines/s": grouped(linesASecond),
    seconds: (elapsedMs / 1000).toFixed(2),
    "CPU µs/line": cpuMicrosecondsALine.toFixed(2),
    "peak RSS MB": grouped(Math.round(peakBytes / 1e6)),
    epochs: grouped(epochs),
    rows: grouped(rows),
  };
}

export function grouped(value: number): string {
  return value.toLocaleString("en");
}
