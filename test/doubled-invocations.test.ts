/**
 * Lambda and Step Functions may invoke a function twice: at once, or when nobody expects it any more. Each invocation of each state's function is doubled,
 * one by one. Nothing changes (I1 to I5).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them; otherwise three of each state and way, by chance.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../shared/epoch/collect.ts";
import { countingStates, Doubling, ways } from "./support/doubling.ts";
import { Counter } from "./support/faults.ts";
import { mapParallel } from "./support/pool.ts";
import { sampleOfEach } from "./support/sample.ts";
import { problemsOf, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

test("an invocation that is made twice changes nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, countingStates(counter)), undisturbed);
  assert.equal(expected.outcome, "nothing-new");
  assert.deepEqual(expected.left, []);
  for (const state of ["Plan", "Operate", "Decide", "Commit", "Seal", "Abort", "Start owner"])
    assert.ok(counter.counts.has(state), `${state} must be among what is doubled`);
  const calls = counter.calls().map(({ method: state, ordinal }) => ({ state, ordinal }));
  const all = calls.flatMap((call) => ways.map((way) => ({ ...call, way })));
  const chosen = sampleOfEach(all, 3, seededRandom(context), ({ state, way }) => `${state} ${way}`);
  context.diagnostic(`${all.length} cases, ${chosen.length} tried`);
  const failed = await mapParallel(chosen, 6, async ({ way, ...invocation }) => {
    const doubling = new Doubling(invocation, way, (engine) => collect(engine, { checkpoints: 1, history: 1000 }));
    const result = await runScenario(
      (place) => runIn(place, doubling.process),
      (place) => runIn(place, doubling.nextProcess),
      undisturbed,
    );
    return problemsOf(result, expected.trees).map(
      (problem) => `call ${invocation.ordinal} of ${invocation.state}, ${way}: ${problem}`,
    );
  });
  assert.deepEqual(failed.flat(), []);
});
