/**
 * The power fails after any write to the ledger, and takes what SQLite has not synced: plans, acks, units that are committed. The output is that of the undisturbed run, byte for
 * byte, and nothing is left behind (I1 to I5).
 *
 * `EPOCHFLOW_TEST_ALL=1` tries all writes; otherwise some, by chance.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { mapParallel } from "./support/pool.ts";
import { Power } from "./support/power.ts";
import type { Workplace } from "./support/readings.ts";
import { problemsOf, runIn, runScenario, undisturbed } from "./support/scenario.ts";
import { seededRandom } from "./support/seed.ts";

const most = process.env.EPOCHFLOW_TEST_ALL ? Number.POSITIVE_INFINITY : 20;

const powerOf = ({ state }: Workplace, failsAt?: number) => new Power(join(state, "ledger.db"), failsAt);

test("a power failure undoes writes to the ledger, and changes nothing", async (context) => {
  let writes = 0;
  const expected = await runScenario(async (place) => {
    const power = powerOf(place);
    const outcome = await runIn(place, power.internals);
    power.end();
    writes = power.writes;
    return outcome;
  }, undisturbed);
  assert.deepEqual(expected.outcomes, ["done", "nothing-new"]);

  const random = seededRandom(context);
  const ordinals = Array.from({ length: writes }, (_, index) => index + 1)
    .sort(() => random.below(3) - 1)
    .slice(0, most);
  let undone = 0;
  const problems = await mapParallel(ordinals, 4, async (ordinal) => {
    const failing = async (place: Workplace) => {
      const power = powerOf(place, ordinal);
      const outcome = await runIn(place, power.internals);
      power.end();
      undone += power.undone;
      return outcome;
    };
    const result = await runScenario(failing, undisturbed, undisturbed);
    return problemsOf(result, expected.trees).map((problem) => `write ${ordinal}: ${problem}`);
  });
  context.diagnostic(`${writes} writes, ${ordinals.length} failures, which took ${undone} of them`);
  assert.deepEqual(problems.flat(), []);
  assert.ok(undone > 0, "some writes must be undone");
});
