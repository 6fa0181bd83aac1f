import assert from "node:assert/strict";
import { test } from "node:test";
import { gbSecondsBetween, ingestedBytes, invocationsOf, metricsOf } from "./function-logs.ts";

const at = (timestamp: number, message: string) => ({ timestamp, message });
const report = (request: string, ms: number, memory: number) =>
  `REPORT RequestId: ${request}\tDuration: ${ms} ms\tBilled Duration: ${ms} ms\tMemory Size: ${memory} MB\tMax Memory Used: 90 MB`;

test("an invocation is billed for the time that it has logged, or else for what the emulator reports, in whole milliseconds", () => {
  const events = [
    at(900, "START RequestId: a Version: $LATEST"),
    at(950, JSON.stringify({ message: "plan", function_request_id: "a", tookMs: 40.2 })),
    at(1000, report("a", 97.5, 512)),
    at(2000, report("b", 12.1, 512)),
  ];
  assert.deepEqual(invocationsOf(events), [
    { endedAt: 1000, billedMs: 41, memoryMb: 512 },
    { endedAt: 2000, billedMs: 13, memoryMb: 512 },
  ]);
});

test("only the part of an invocation counts that lies within the time", () => {
  const invocations = [{ endedAt: 10_000, billedMs: 4_000, memoryMb: 2048 }];
  assert.equal(gbSecondsBetween(invocations, 0, 20_000), 8);
  assert.equal(gbSecondsBetween(invocations, 7_000, 9_000), 4);
  assert.equal(gbSecondsBetween(invocations, 11_000, 20_000), 0);
});

test("each line of log has some bytes more than its text", () => {
  assert.equal(ingestedBytes([at(0, "ä"), at(0, "")]), 2 + 2 * 26);
});

test("metrics are told apart by name and dimensions", () => {
  const line = (Name: string, service: string) => {
    const CloudWatchMetrics = [{ Namespace: "n", Dimensions: [["service"]], Metrics: [{ Name }] }];
    return at(0, JSON.stringify({ service, [Name]: 1, _aws: { CloudWatchMetrics } }));
  };
  assert.equal(
    metricsOf([line("Lag", "a"), line("Lag", "a"), line("Lag", "b"), line("Rows", "a"), at(0, "x")]).size,
    3,
  );
});
