/**
 * Lambda and Step Functions may invoke a function twice: at once, or when nobody expects it any more. Each invocation of each state's function is doubled,
 * one by one. Nothing changes (I1 to I5).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all of them; otherwise a sample.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "../shared/epoch/collect.ts";
import { countingStates, Doubling, ways } from "./support/doubling.ts";
import { Counter } from "./support/faults.ts";
import { mapParallel } from "./support/pool.ts";
import { problemsOf, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

const sampleSize = 90;
/** States that few calls are made of: all of these are tried. */
const rare = ["Abort", "Start owner"];

test("an invocation that is made twice changes nothing", async (context) => {
  const counter = new Counter();
  const expected = await runScenario((place) => runIn(place, countingStates(counter)), undisturbed);
  assert.equal(expected.outcome, "nothing-new");
  assert.deepEqual(expected.left, []);
  for (const state of ["Plan", "Operate", "Decide", "Commit", "Seal", ...rare])
    assert.ok(counter.counts.has(state), `${state} must be among what is doubled`);
  const cases = counter.calls().flatMap(({ method: state, ordinal }) => ways.map((way) => ({ state, ordinal, way })));
  const random = seededRandom(context);
  const chosen = cases.filter(
    ({ state }) => process.env.EPOCHFLOW_TEST_ALL || rare.includes(state) || random.below(cases.length) < sampleSize,
  );
  context.diagnostic(`${cases.length} cases, ${chosen.length} tried`);
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
