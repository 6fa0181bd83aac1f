/**
 * Lambda and Step Functions may invoke a function twice: at once, or when nobody expects it any more. Each invocation of each state's function is doubled,
 * one by one. Nothing changes (I1 to I5).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them; otherwise one of each state and way, by chance.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../shared/epoch/collect.ts";
import { Counter, countingStates } from "./support/counter.ts";
import { Doubling, doublingMany, ways } from "./support/doubling.ts";
import { mapParallel } from "./support/pool.ts";
import { sampleOfEach } from "./support/sample.ts";
import { problemsOf, type Result, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

/** It need not even be run again. */
function problemsOfDoubled(result: Result, expected: Result): string[] {
  const [outcome] = result.outcomes;
  return [...(outcome === "done" ? [] : [`it ended with: ${outcome}`]), ...problemsOf(result, expected.trees)];
}

test("invocations that are made twice change nothing, however many", async (context) => {
  const expected = await runScenario(undisturbed, undisturbed);
  const random = seededRandom(context);
  const runs = Array.from({ length: process.env.EPOCHFLOW_TEST_ALL ? 500 : 15 }, (_, run) => run);
  const failed = await mapParallel(runs, 6, async (run) => {
    const result = await runScenario((place) => runIn(place, doublingMany(random)), undisturbed);
    return problemsOfDoubled(result, expected).map((problem) => `run ${run}: ${problem}`);
  });
  assert.deepEqual(failed.flat(), []);
});

test("an invocation that is made twice changes nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, countingStates(counter)), undisturbed);
  assert.deepEqual(expected.outcomes, ["done", "nothing-new"]);
  assert.deepEqual(expected.left, []);
  for (const state of ["Plan", "Operate", "Decide", "Commit", "Seal", "Abort", "Start owner"])
    assert.ok(counter.counts.has(state), `${state} must be among what is doubled`);
  const random = seededRandom(context);
  const calls = counter.calls().map(({ method: state, ordinal }) => ({ state, ordinal }));
  const all = calls.flatMap((call) => ways.map((way) => ({ ...call, way })));
  const chosen = sampleOfEach(all, 1, random, ({ state, way }) => `${state} ${way}`);
  context.diagnostic(`${all.length} cases, ${chosen.length} tried`);
  const failed = await mapParallel(chosen, 6, async ({ way, ...invocation }) => {
    const doubling = new Doubling(invocation, way, random, (engine) =>
      collect(engine, { checkpoints: 1, history: 1000 }),
    );
    const result = await runScenario(
      (place) => runIn(place, doubling.process),
      (place) => runIn(place, doubling.nextProcess),
      undisturbed,
    );
    return problemsOfDoubled(result, expected).map(
      (problem) => `call ${invocation.ordinal} of ${invocation.state}, ${way}: ${problem}`,
    );
  });
  assert.deepEqual(failed.flat(), []);
});
