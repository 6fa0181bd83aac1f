import { formatTable } from "../../../examples/support/table.ts";
import { medianOf, percentOf, rounded, spreadOf } from "../figures.ts";
import type { LatencyRun } from "./latency.ts";
import { baselineOf, byEngine, correctCell, headOf, verdictOf } from "./report.ts";

export function latencyLine(run: LatencyRun) {
  return {
    ...headOf("latency", run),
    ...run.options,
    ...{ p50Ms: rounded(run.p50), p99Ms: rounded(run.p99), maxMs: rounded(run.max), keepsUp: run.keepsUp },
    ...{ cpuSeconds: rounded(run.cpuSeconds, 2), rssMiB: rounded(memory(run)) },
    ...verdictOf(run),
  };
}

/** A line an engine for standard output: medians. */
export function latencySummaries(runs: readonly LatencyRun[]) {
  return byEngine(runs).map(({ engine, its, right }) => ({
    ...{ part: "latency", median: true, engine, runs: its.length, ...its[0]!.options },
    p50Ms: rounded(medianOf(right.map(({ p50 }) => p50))),
    p99Ms: rounded(medianOf(right.map(({ p99 }) => p99))),
    keepsUp: right.length > 0 && right.every(({ keepsUp }) => keepsUp),
    correct: right.length === its.length,
  }));
}

export function latencyTable(runs: readonly LatencyRun[]): string {
  const flink = medianOf(baselineOf(runs).map(memory));
  const rows = byEngine(runs).map(({ engine, its, right }) => ({
    engine,
    "interval, ms": String(its[0]!.engine.epochMs),
    "p50, ms": spreadOf(right.map(({ p50 }) => p50)),
    "p99, ms": spreadOf(right.map(({ p99 }) => p99)),
    "max, ms": spreadOf(right.map(({ max }) => max)),
    "keeps up": keepsUpCell(right),
    "CPU s": spreadOf(
      right.map(({ cpuSeconds }) => cpuSeconds),
      1,
    ),
    "peak RSS, MiB": spreadOf(right.map(memory)),
    "of flink's": percentOf(medianOf(right.map(memory)), flink),
    correct: correctCell(its),
  }));
  return formatTable(rows);
}

function keepsUpCell(right: readonly LatencyRun[]): string {
  const up = right.filter(({ keepsUp }) => keepsUp).length;
  if (right.length === 0) return "–";
  return up === right.length ? "yes" : `${up} of ${right.length}`;
}

const memory = ({ peakBytes }: LatencyRun) => peakBytes / 2 ** 20;
