/**
 * `npm run mutants [-- --only WORDS]`: every mutant, each on the same seeds. The simulator must catch them all: one that survives is a fault of the
 * simulator.
 */
import { parseArgs } from "node:util";
import { mapParallel } from "../support/pool.ts";
import { mutants } from "./mutants.ts";
import { runMutant } from "./run-mutant.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "5000" },
    jobs: { type: "string", default: "2" },
  },
});
const chosen = mutants.filter(({ name }) => name.includes(values.only));
let survived = 0;

await mapParallel(chosen, Number(values.jobs), async ({ name }) => {
  const caught = await runMutant(name, { first: 1, count: Number(values.seeds) });
  if (!caught) survived++;
  const how = caught ? `seed ${caught.seed}, ${caught.invariant}: ${caught.message.slice(0, 100)}` : "SURVIVED";
  console.error(`${name}: ${how}`);
});
console.log(`${chosen.length - survived} caught, ${survived} survived`);
process.exitCode = survived === 0 ? 0 : 1;
