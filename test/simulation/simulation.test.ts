/** A fixed number of seeds for every change; `npm run simulate` runs as many as one likes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { runCampaign } from "../../shared/testing/simulation/campaign.ts";
import { faultKinds } from "../../shared/testing/simulation/faults.ts";
import { describeFailure } from "../../shared/testing/simulation/report.ts";
import { shrink } from "../../shared/testing/simulation/shrink.ts";
import { simulate } from "../../shared/testing/simulation/simulate.ts";
import { runningSubject, subject, weakerSubject } from "./subject.ts";

const seeds = 250;

test("no seed breaks an invariant", async (context) => {
  const campaign = await runCampaign(subject, { firstSeed: 1, goesOn: (runs) => runs < seeds });
  const { failing, faults, epochs, steps } = campaign;
  if (failing) assert.fail(describeFailure(await shrink(subject, failing), failing));
  context.diagnostic(`${epochs} epochs, ${steps} steps`);
  const missing = Object.keys(faultKinds).filter((kind) => !faults.has(kind));
  assert.deepEqual(missing, [], "every kind of fault must have happened");
});

test("no seed breaks running aggregates: the last row of a key has all of it", async () => {
  const { failing } = await runCampaign(runningSubject, { firstSeed: 1, goesOn: (runs) => runs < seeds / 2 });
  if (failing) assert.fail(describeFailure(await shrink(runningSubject, failing), failing));
});

for (const guarantee of ["at-least-once", "at-most-once"] as const)
  test(`no seed breaks ${guarantee}`, async () => {
    const weaker = weakerSubject(guarantee);
    const { failing } = await runCampaign(weaker, { firstSeed: 1, goesOn: (runs) => runs < seeds / 5 });
    if (failing) assert.fail(describeFailure(await shrink(weaker, failing), failing));
  });

test("a seed gives the same run, byte for byte", async () => {
  for (const seed of [2, 3, 5, 7]) {
    const run = async () => JSON.stringify(await simulate(subject, { seed, trace: true }));
    assert.equal(await run(), await run());
  }
});

test("without faults nothing goes wrong", async () => {
  const outcome = await simulate(subject, { seed: 11, only: new Set() });
  assert.equal(outcome.violation, undefined);
  assert.deepEqual(outcome.faults, []);
  assert.ok(outcome.epochs > 0);
});

test("a run that is over leaves nothing in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const heapAfter = async (from: number) => {
    for (let seed = from; seed < from + 30; seed++) await simulate(subject, { seed });
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(1000);
  const after = await heapAfter(1030);
  assert.ok(after - before < 30 * 50_000, `30 runs have left ${after - before} bytes`);
});
