/**
 * `npm run simulate:pairs -- [--worlds N] [--pairs N]`: small worlds, without luck. Every fault that could happen in an undisturbed run happens once, alone; then
 * pairs of them, at random. What the model (test/model) does to the protocol with a budget of one or two faults, on the real code.
 */
import { parseArgs } from "node:util";
import { Chance } from "../../shared/testing/simulation/chance.ts";
import { type Outcome, simulate } from "../../shared/testing/simulation/simulate.ts";
import { subject } from "./subject.ts";

const { values } = parseArgs({
  options: { worlds: { type: "string", default: "3" }, pairs: { type: "string", default: "1000" } },
});
/** A run without faults that takes more steps than this has too many occasions for all of them to be tried. */
const smallSteps = 500;
/** What happens to every process, or ends only with the run, is no single fault. */
const isSingle = (name: string): boolean => !name.startsWith("parallelism changes");

let tried = 0;
const failures: string[] = [];

async function attempt(seed: number, faults: readonly string[]): Promise<Outcome> {
  const outcome = await simulate(subject, { seed, exactly: new Set(faults) });
  tried++;
  if (outcome.violation)
    failures.push(`seed ${seed}, ${faults.join(", ")}: ${outcome.violation.invariant}: ${outcome.violation.message}`);
  return outcome;
}

async function explore(seed: number, occasions: readonly string[]): Promise<void> {
  for (const fault of occasions) await attempt(seed, [fault]);
  const chance = new Chance(seed);
  for (let pair = 0; pair < Number(values.pairs); pair++)
    await attempt(
      seed,
      [0, 1].map((half) => chance.pick(`${pair} ${half}`, occasions)),
    );
  console.error(`seed ${seed}: ${occasions.length} single faults and ${values.pairs} pairs`);
}

for (let seed = 1, worlds = 0; worlds < Number(values.worlds); seed++) {
  const occasions = new Set<string>();
  const { steps, epochs } = await simulate(subject, { seed, exactly: new Set(), occasions });
  if (steps > smallSteps || epochs < 2) continue;
  worlds++;
  await explore(seed, [...occasions].filter(isSingle));
}
for (const failure of failures) console.log(failure);
console.log(`${tried} runs, ${failures.length} violations`);
process.exitCode = failures.length === 0 ? 0 : 1;
