import assert from "node:assert/strict";
import { test } from "node:test";
import { describeFailure } from "../../shared/testing/simulation/report.ts";
import { simulate } from "../../shared/testing/simulation/simulate.ts";
import { mutants } from "./mutants.ts";
import { regressions } from "./regressions.ts";
import { runMutant } from "./run-mutant.ts";
import { subject } from "./subject.ts";

for (const { name, seed, faults, mutant } of regressions)
  test(`never again: ${name}`, async () => {
    const outcome = await simulate(subject, { seed, only: new Set(faults), trace: true });
    assert.equal(outcome.violation, undefined, describeFailure(outcome, outcome));
    assert.ok(
      await runMutant(mutant, { first: seed, count: 1 }, faults),
      "the run no longer tests what it was kept for",
    );
  });

test("the simulator can fail: some mutants, each within 60 seeds", async () => {
  const quick = [
    "a fenced attempt acknowledges",
    "warm state kept after an abort",
    "commit before decide",
    "no marker",
    "at-least-once acknowledges before it has published",
    "rows are published before they are claimed",
  ];
  for (const name of quick) {
    assert.ok(mutants.some((one) => one.name === name));
    assert.ok(await runMutant(name, { first: 1, count: 60 }), `"${name}" survived`);
  }
});
