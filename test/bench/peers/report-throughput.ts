import { formatTable } from "../../../examples/support/table.ts";
import { medianOf, percentOf, rounded, spreadOf, timesOf } from "../figures.ts";
import { baselineOf, byEngine, correctCell, headOf, verdictOf } from "./report.ts";
import type { ThroughputRun } from "./throughput.ts";

/** What goes to standard output of a run; figures of a run that failed are null. */
export function throughputLine(run: ThroughputRun) {
  const { records, jobSeconds, bootSeconds, firstResultMs, hung } = run;
  return {
    ...headOf("throughput", run),
    records,
    recordsPerSecond: rounded(speed(run)),
    recordsPerSecondWithBoot: rounded(records / (jobSeconds + bootSeconds)),
    recordsPerCpuSecond: rounded(thrift(run)),
    firstResultMs: rounded(firstResultMs),
    firstResultMsWithBoot: rounded(firstWithBoot(run)),
    cpuSeconds: rounded(run.cpuSeconds, 2),
    brokerCpuSeconds: rounded(run.brokerCpuSeconds, 2),
    otherCpuSeconds: rounded(run.otherCpuSeconds, 2),
    rssMiB: rounded(memory(run)),
    ...(hung && { hungAtExit: true }),
    ...verdictOf(run),
  };
}

/** A line an engine for standard output: medians of the right runs, beside those of Flink in the same run. */
export function throughputSummaries(runs: readonly ThroughputRun[]) {
  const base = summaryOf(baselineOf(runs));
  return byEngine(runs).map(({ engine, its, right }) => {
    const own = summaryOf(right);
    return {
      ...{ part: "throughput", median: true, engine, runs: its.length, records: its[0]!.records },
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, rounded(value)])),
      timesFlink: rounded(own.recordsPerSecond / base.recordsPerSecond, 2),
      timesFlinkPerCpuSecond: rounded(own.recordsPerCpuSecond / base.recordsPerCpuSecond, 2),
      rssOfFlink: rounded(own.rssMiB / base.rssMiB, 2),
      correct: right.length === its.length,
    };
  });
}

/** Two tables, a line an engine: how fast, and at what cost. Medians of the right runs, and in parentheses the lowest and the highest. */
export function throughputTable(runs: readonly ThroughputRun[]): string {
  const base = summaryOf(baselineOf(runs));
  const speeds = byEngine(runs).map(({ engine, its, right }) => ({
    engine,
    "records/s": spreadOf(right.map(speed)),
    "× flink": timesOf(summaryOf(right).recordsPerSecond, base.recordsPerSecond),
    "first result, ms": spreadOf(right.map(({ firstResultMs }) => firstResultMs)),
    "with boot": spreadOf(right.map(firstWithBoot)),
    correct: correctCell(its),
  }));
  const costs = byEngine(runs).map(({ engine, right }) => ({
    engine,
    "records per CPU s": spreadOf(right.map(thrift)),
    "× flink": timesOf(summaryOf(right).recordsPerCpuSecond, base.recordsPerCpuSecond),
    "peak RSS, MiB": spreadOf(right.map(memory)),
    "of flink's": percentOf(summaryOf(right).rssMiB, base.rssMiB),
    "CPU s": spreadOf(
      right.map(({ cpuSeconds }) => cpuSeconds),
      1,
    ),
    "broker CPU s": spreadOf(
      right.map(({ brokerCpuSeconds }) => brokerCpuSeconds),
      1,
    ),
    "other CPU s": spreadOf(
      right.map(({ otherCpuSeconds }) => otherCpuSeconds),
      1,
    ),
  }));
  return `${formatTable(speeds)}\n\n${formatTable(costs)}`;
}

function summaryOf(right: readonly ThroughputRun[]) {
  return {
    recordsPerSecond: medianOf(right.map(speed)),
    recordsPerCpuSecond: medianOf(right.map(thrift)),
    firstResultMs: medianOf(right.map(({ firstResultMs }) => firstResultMs)),
    firstResultMsWithBoot: medianOf(right.map(firstWithBoot)),
    rssMiB: medianOf(right.map(memory)),
  };
}

const speed = ({ records, jobSeconds }: ThroughputRun) => records / jobSeconds;
const thrift = ({ records, cpuSeconds }: ThroughputRun) => records / cpuSeconds;
const memory = ({ peakBytes }: ThroughputRun) => peakBytes / 2 ** 20;
const firstWithBoot = ({ firstResultMs, bootSeconds }: ThroughputRun) => firstResultMs + bootSeconds * 1000;
