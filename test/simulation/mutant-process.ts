/**
 * One mutant in a process of its own: `mutant-process.ts NAME FIRST-SEED SEEDS [FAULT...]`, with these faults only, if any are named. Prints, as JSON, the
 * first seed that catches it, and how; or null.
 */
import { mutants } from "./mutants.ts";
import { mutate } from "./mutate.ts";

const [name, first, count, ...faults] = process.argv.slice(2);
const mutant = mutants.find((one) => one.name === name)!;
mutate(mutant);
// Errors are made by the thousand; nobody reads where.
Error.stackTraceLimit = 0;
const { simulate } = await import("../../shared/testing/simulation/simulate.ts");
const subjects = await import("./subject.ts");
const subject = mutant.guarantee ? subjects.weakerSubject(mutant.guarantee) : subjects.subject;
const only = faults.length > 0 ? { only: new Set(faults) } : {};
let caught: unknown = null;
for (let seed = Number(first); seed < Number(first) + Number(count) && caught === null; seed++) {
  const { violation } = await simulate(subject, { seed, ...only });
  if (violation) caught = { seed, ...violation };
}
console.log(JSON.stringify(caught));
