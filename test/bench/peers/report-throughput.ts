import { formatTable } from "../../../examples/support/table.ts";
import { baseline } from "./engines.ts";
import { medianOf, percentOf, rounded, spreadOf, timesOf } from "./figures.ts";
import type { ThroughputRun } from "./throughput.ts";

/** What goes to standard output of a run; figures of a run that failed are null. */
export function throughputLine(run: ThroughputRun) {
  const { engine, round, records, cpuSeconds, bootSeconds, firstResultMs, hung, complaint } = run;
  return {
    part: "throughput",
    ...{ engine: engine.name, round, records, epochMs: engine.epochMs },
    recordsPerSecond: rounded(speed(run)),
    recordsPerSecondWithBoot: rounded(records / (run.jobSeconds + bootSeconds)),
    recordsPerCpuSecond: rounded(thrift(run)),
    firstResultMs: rounded(firstResultMs),
    firstResultMsWithBoot: rounded(firstWithBoot(run)),
    cpuSeconds: rounded(cpuSeconds, 2),
    brokerCpuSeconds: rounded(run.brokerCpuSeconds, 2),
    otherCpuSeconds: rounded(run.otherCpuSeconds, 2),
    rssMiB: rounded(memory(run)),
    ...(hung && { hungAtExit: true }),
    correct: complaint === undefined,
    ...(complaint !== undefined && { complaint }),
  };
}

/** A line an engine for standard output: its medians, beside those of the baseline in the same run. */
export function throughputSummaries(runs: readonly ThroughputRun[]) {
  const base = summaryOf(runs.filter(({ engine }) => engine.name === baseline));
  return byEngine(runs).map(([engine, its]) => {
    const own = summaryOf(its);
    return {
      part: "throughput",
      median: true,
      engine,
      runs: its.length,
      records: its[0]!.records,
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, rounded(value)])),
      timesFlink: rounded(own.recordsPerSecond / base.recordsPerSecond, 2),
      timesFlinkPerCpuSecond: rounded(own.recordsPerCpuSecond / base.recordsPerCpuSecond, 2),
      rssOfFlink: rounded(own.rssMiB / base.rssMiB, 2),
      correct: its.every(({ complaint }) => complaint === undefined),
    };
  });
}

/** A line an engine: medians of the runs whose results are right, and in parentheses the lowest and the highest. */
export function throughputTable(runs: readonly ThroughputRun[]): string {
  const base = summaryOf(runs.filter(({ engine }) => engine.name === baseline));
  const speeds = byEngine(runs).map(([engine, its]) => {
    const right = its.filter(({ complaint }) => complaint === undefined);
    return {
      engine,
      "records/s": spreadOf(right.map(speed)),
      [`× ${baseline}`]: timesOf(summaryOf(its).recordsPerSecond, base.recordsPerSecond),
      "first result, ms": spreadOf(right.map(({ firstResultMs }) => firstResultMs)),
      "with boot": spreadOf(right.map(firstWithBoot)),
      correct: right.length === its.length ? "yes" : `${right.length} of ${its.length}`,
    };
  });
  const costs = byEngine(runs).map(([engine, its]) => {
    const right = its.filter(({ complaint }) => complaint === undefined);
    const own = summaryOf(its);
    return {
      engine,
      "records per CPU s": spreadOf(right.map(thrift)),
      [`× ${baseline}`]: timesOf(own.recordsPerCpuSecond, base.recordsPerCpuSecond),
      "peak RSS, MiB": spreadOf(right.map(memory)),
      [`of ${baseline}'s`]: percentOf(own.rssMiB, base.rssMiB),
      "CPU s": spreadOf(right.map(({ cpuSeconds }) => cpuSeconds)),
      "broker CPU s": spreadOf(right.map(({ brokerCpuSeconds }) => brokerCpuSeconds)),
      "other CPU s": spreadOf(right.map(({ otherCpuSeconds }) => otherCpuSeconds)),
    };
  });
  return `${formatTable(speeds)}\n\n${formatTable(costs)}`;
}

/** Medians of the runs whose results are right. */
function summaryOf(runs: readonly ThroughputRun[]) {
  const right = runs.filter(({ complaint }) => complaint === undefined);
  return {
    recordsPerSecond: medianOf(right.map(speed)),
    recordsPerCpuSecond: medianOf(right.map(thrift)),
    firstResultMs: medianOf(right.map(({ firstResultMs }) => firstResultMs)),
    firstResultMsWithBoot: medianOf(right.map(firstWithBoot)),
    rssMiB: medianOf(right.map(memory)),
  };
}

const byEngine = (runs: readonly ThroughputRun[]) => [...Map.groupBy(runs, ({ engine }) => engine.name)];
const speed = ({ records, jobSeconds }: ThroughputRun) => records / jobSeconds;
const thrift = ({ records, cpuSeconds }: ThroughputRun) => records / cpuSeconds;
const memory = ({ peakBytes }: ThroughputRun) => peakBytes / 2 ** 20;
const firstWithBoot = ({ firstResultMs, bootSeconds }: ThroughputRun) => firstResultMs + bootSeconds * 1000;
