/**
 * Every call of every port fails once, before its effect and after it; the process dies there; the function that made the call comes back as a zombie. The
 * output is always that of the undisturbed run, byte for byte, and nothing is left behind (I1 to I6, I8).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them (minutes); otherwise a sample, with the first and the last call of each method.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { SeededRandom } from "../shared/adapters/memory/random.ts";
import { collect } from "../shared/epoch/collect.ts";
import { startNode } from "./support/cli.ts";
import { type Call, Counter, counting, Fault, type Mode, modes } from "./support/faults.ts";
import { mapParallel } from "./support/pool.ts";
import type { Workplace } from "./support/readings.ts";
import { problemsOf, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

const sampleSize = 160;
const processes = process.env.EPOCHFLOW_TEST_ALL ? 300 : 12;
const dyingProcess = fileURLToPath(new URL("support/dying-process.ts", import.meta.url));

interface Case extends Call {
  /** Position among all calls of the undisturbed run. */
  readonly index: number;
  readonly mode: Mode;
}

test("a fault at any call of any port changes nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, counting(counter)), undisturbed);
  assert.equal(expected.outcome, "nothing-new");
  assert.deepEqual(expected.left, []);
  const cases = counter.calls().flatMap((call, index) => modes.map((mode) => ({ ...call, index, mode })));
  const chosen = process.env.EPOCHFLOW_TEST_ALL ? cases : sample(cases, seededRandom(context));
  let hits = 0;
  const failed = await mapParallel(chosen, 6, async ({ index, mode, ...call }) => {
    const fault = new Fault(call, mode, (engine) => collect(engine, { checkpoints: 1, history: 1000 }));
    const result = await runScenario((place) => runIn(place, fault.internals), undisturbed);
    if (fault.hit) hits++;
    return problemsOf(result, expected.trees).map(
      (problem) => `call ${index} (${call.method} ${call.ordinal}), ${mode}: ${problem}`,
    );
  });
  context.diagnostic(`${cases.length} cases, ${chosen.length} tried, ${hits} of them hit their call`);
  assert.deepEqual(failed.flat(), []);
  assert.ok(hits > chosen.length / 2, "most faults must really happen");
});

test("a process that is killed at a call of a port loses nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, counting(counter)), undisturbed);
  const calls = counter.calls();
  const random = seededRandom(context);
  const chosen = Array.from({ length: processes }, () => calls[random.below(calls.length)]!);
  const failed = await mapParallel(chosen, 2, async (call) => {
    const when = random.below(2) === 0 ? "before" : "after";
    const name = `${call.method} ${call.ordinal}, killed ${when} it`;
    const killed = async ({ folder }: Workplace) => {
      const { child, finished } = startNode([dyingProcess, folder, call.method, String(call.ordinal), when]);
      const { stderr } = await finished;
      // What runs at the same time may be fewer calls in the end: then it was not killed.
      assert.ok(child.signalCode === "SIGKILL" || child.exitCode === 0, `${name}: ${stderr}`);
      return "killed";
    };
    return problemsOf(await runScenario(killed, undisturbed), expected.trees).map((problem) => `${name}: ${problem}`);
  });
  assert.deepEqual(failed.flat(), []);
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
