/**
 * Every call of every port fails once, before its effect and after it; the process dies there; the function that made the call comes back as a zombie. The
 * output is always that of the undisturbed run, byte for byte, and nothing is left behind (I1 to I6, I8).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them (minutes); otherwise a sample, with the first and the last call of each method.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeededRandom } from "../shared/adapters/memory/random.ts";
import { collect } from "../shared/epoch/collect.ts";
import { type Call, Counter, counting, Fault, type Mode, modes } from "./support/faults.ts";
import { mapParallel } from "./support/pool.ts";
import { problemsAfter, runScenario } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

const sampleSize = 250;

interface Case extends Call {
  /** Position among all calls of the undisturbed run. */
  readonly index: number;
  readonly mode: Mode;
}

test("a fault at any call of any port changes nothing", async (context) => {
  const counter = new Counter();
  const undisturbed = await runScenario(counting(counter), {});
  assert.equal(undisturbed.outcome, "nothing-new");
  assert.deepEqual(undisturbed.left, []);
  const cases = counter.calls().flatMap((call, index) => modes.map((mode) => ({ ...call, index, mode })));
  const chosen = process.env.EPOCHFLOW_TEST_ALL ? cases : sample(cases, seededRandom(context));
  let hits = 0;
  const failed = await mapParallel(chosen, 6, async ({ index, mode, ...call }) => {
    const fault = new Fault(call, mode, (engine) => collect(engine, { checkpoints: 1, history: 1000 }));
    const problems = await problemsAfter(undisturbed.trees, fault.internals);
    if (fault.hit) hits++;
    return problems.map((problem) => `call ${index} (${call.method} ${call.ordinal}), ${mode}: ${problem}`);
  });
  context.diagnostic(`${cases.length} cases, ${chosen.length} tried, ${hits} of them hit their call`);
  assert.deepEqual(failed.flat(), []);
  assert.ok(hits > chosen.length / 2, "most faults must really happen");
});

/** First and last call of each method in one mode each, chosen at random, and a random rest. */
function sample(cases: readonly Case[], random: SeededRandom): Case[] {
  const chosen = new Set<Case>();
  const pick = (from: readonly Case[]) => chosen.add(from[random.below(from.length)]!);
  for (const calls of Map.groupBy(cases, ({ method }) => method).values())
    for (const ordinal of [1, calls.at(-1)!.ordinal]) pick(calls.filter((one) => one.ordinal === ordinal));
  while (chosen.size < Math.min(sampleSize, cases.length)) pick(cases);
  return [...chosen];
}
