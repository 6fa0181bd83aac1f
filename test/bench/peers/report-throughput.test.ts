import assert from "node:assert/strict";
import { test } from "node:test";
import { throughputEngines } from "./engines.ts";
import { throughputLine, throughputSummaries, throughputTable } from "./report-throughput.ts";
import type { ThroughputRun } from "./throughput.ts";

const engineNamed = (name: string) => throughputEngines.find((engine) => engine.name === name)!;

function runOf(name: string, round: number, jobSeconds: number, more: Partial<ThroughputRun> = {}): ThroughputRun {
  return {
    ...{ engine: engineNamed(name), round, records: 1000, jobSeconds, bootSeconds: 0.5, firstResultMs: 100 },
    ...{ cpuSeconds: 2, peakBytes: 100 * 2 ** 20, brokerCpuSeconds: 1, otherCpuSeconds: 1, hung: false },
    complaint: undefined,
    ...more,
  };
}

test("an engine's medians stand beside those of Flink in the same run", () => {
  const runs = [
    ...[2, 4, 10].map((seconds, index) => runOf("flink", index + 1, seconds, { peakBytes: 400 * 2 ** 20 })),
    ...[0.5, 1, 0.1].map((seconds, index) => runOf("epochflow", index + 1, seconds, { cpuSeconds: 0.5 })),
  ];
  const [flink, own] = throughputSummaries(runs);
  assert.deepEqual([flink!.engine, flink!.timesFlink, flink!.rssOfFlink], ["flink", 1, 1]);
  assert.deepEqual(
    [own!.engine, own!.timesFlink, own!.timesFlinkPerCpuSecond, own!.rssOfFlink],
    ["epochflow", 8, 4, 0.25],
  );
  assert.match(throughputTable(runs), /epochflow +2,000 \(1,000–10,000\) +8\.00× +100 +600 +yes/);
});

test("a run whose results are wrong counts in no median, and is told", () => {
  const runs = [
    runOf("flink", 1, 2),
    runOf("epochflow", 1, 1),
    runOf("epochflow", 2, 0.01, { complaint: "1 missing" }),
  ];
  const own = throughputSummaries(runs)[1]!;
  assert.deepEqual([own.timesFlink, own.correct], [2, false]);
  assert.match(throughputTable(runs), /2\.00× .* 1 of 2/);
  assert.equal(throughputLine(runs[2]!).complaint, "1 missing");
});

test("where there is no Flink, or no result, there is no ratio", () => {
  const failed = runOf("epochflow", 1, Number.NaN, { firstResultMs: Number.NaN, complaint: "it ended with 1" });
  assert.equal(throughputLine(failed).recordsPerSecond, null);
  assert.equal(throughputSummaries([failed])[0]!.timesFlink, null);
  assert.match(throughputTable([failed]), /epochflow +– +– +– +– +0 of 1/);
});
