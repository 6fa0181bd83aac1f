import assert from "node:assert/strict";
import { test } from "node:test";
import { type Options, parseOptions } from "./options.ts";

const enginesOf = (...args: readonly string[]) => {
  const { engines } = parseOptions(args) as Options;
  return Object.entries(engines).flatMap(([part, its]) => its.map(({ name }) => `${part} ${name}`));
};

test("all parts by default, or those that are named; of each the engines that are named", () => {
  const parts = (...args: readonly string[]) => [...new Set(enginesOf(...args).map((one) => one.split(" ")[0]))];
  assert.deepEqual(parts(), ["throughput", "latency", "recovery"]);
  assert.deepEqual(parts("--latency", "--recovery"), ["latency", "recovery"]);
  assert.deepEqual(enginesOf("--engines", "flink-10s, epochflow", "--throughput"), [
    "throughput flink-10s",
    "throughput epochflow",
  ]);
  assert.deepEqual(enginesOf("--engines", "flink"), ["throughput flink", "latency flink", "recovery flink"]);
});

test("an engine that no chosen part has is refused, with those that there are", () => {
  assert.throws(() => parseOptions(["--recovery", "--engines", "spark"]), /knows flink,.*not "spark"/);
  assert.throws(() => parseOptions(["--keys", "9"]), /--keys takes 10 or more/);
});
