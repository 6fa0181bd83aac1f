import { formatTable } from "../../../examples/support/table.ts";
import { medianOf, percentOf, rounded, spreadOf, timesOf } from "../figures.ts";
import type { RecoveryRun } from "./recovery.ts";
import { baselineOf, byEngine, correctCell, headOf, verdictOf } from "./report.ts";

export function recoveryLine(run: RecoveryRun) {
  return {
    ...headOf("recovery", run),
    ...run.options,
    nextResultMs: run.nextResultMs.map((ms) => rounded(ms)),
    freshResultMs: run.freshResultMs.map((ms) => rounded(ms)),
    ...{ cpuSeconds: rounded(run.cpuSeconds, 2), rssMiB: rounded(memory(run)) },
    ...verdictOf(run),
  };
}

/** A line an engine for standard output: medians over all kills. */
export function recoverySummaries(runs: readonly RecoveryRun[]) {
  const base = summaryOf(baselineOf(runs));
  return byEngine(runs).map(({ engine, its, right }) => {
    const own = summaryOf(right);
    return {
      ...{ part: "recovery", median: true, engine, runs: its.length, ...its[0]!.options },
      nextResultMs: rounded(own.next),
      freshResultMs: rounded(own.fresh),
      nextResultOfFlink: rounded(own.next / base.next, 2),
      freshResultOfFlink: rounded(own.fresh / base.fresh, 2),
      correct: right.length === its.length,
    };
  });
}

export function recoveryTable(runs: readonly RecoveryRun[]): string {
  const base = summaryOf(baselineOf(runs));
  const rows = byEngine(runs).map(({ engine, its, right }) => {
    const own = summaryOf(right);
    return {
      engine,
      "next result, ms": spreadOf(right.flatMap(({ nextResultMs }) => nextResultMs)),
      "of flink's": timesOf(own.next, base.next),
      "of a new record, ms": spreadOf(right.flatMap(({ freshResultMs }) => freshResultMs)),
      "of flink's ": timesOf(own.fresh, base.fresh),
      "CPU s": spreadOf(
        right.map(({ cpuSeconds }) => cpuSeconds),
        1,
      ),
      "peak RSS, MiB": spreadOf(right.map(memory)),
      "of flink's  ": percentOf(own.memory, base.memory),
      correct: correctCell(its),
    };
  });
  return formatTable(rows);
}

function summaryOf(right: readonly RecoveryRun[]) {
  return {
    next: medianOf(right.flatMap(({ nextResultMs }) => nextResultMs)),
    fresh: medianOf(right.flatMap(({ freshResultMs }) => freshResultMs)),
    memory: medianOf(right.map(memory)),
  };
}

const memory = ({ peakBytes }: RecoveryRun) => peakBytes / 2 ** 20;
