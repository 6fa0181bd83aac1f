/**
 * `npm run simulate:every -- [--configuration WORDS] [--preemptions P] [--faults F] [--seconds S] [--states N]`: the model's configurations (test/model), explored
 * exhaustively on the real code, with at most so many preemptions and faults a run, and each for at most so many seconds of processor time, or states. What differs least from
 * the undisturbed run comes first. `--mutant NAME`: with a deliberate fault in the code.
 */
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    configuration: { type: "string", default: "" },
    preemptions: { type: "string", default: "1" },
    faults: { type: "string", default: "1" },
    seconds: { type: "string", default: "Infinity" },
    states: { type: "string", default: "Infinity" },
    mutant: { type: "string" },
  },
});
if (values.mutant !== undefined) {
  const { mutants } = await import("../mutants.ts");
  const { mutate } = await import("../mutate.ts");
  const mutant = mutants.find(({ name }) => name === values.mutant);
  if (!mutant) throw new Error(`there is no mutant ${values.mutant}`);
  mutate(mutant);
}
const { configurations } = await import("./configurations.ts");
const { explore } = await import("./explore.ts");
const { runSmall } = await import("./small-world.ts");
const { Fingerprint } = await import("./fingerprint.ts");
// Errors are made by the thousand; nobody reads where.
Error.stackTraceLimit = 4;

const budget = { preemptions: Number(values.preemptions), faults: Number(values.faults) };
const chosen = configurations.filter(({ name }) => name.includes(values.configuration));
let [allRuns, allStates, unfinished] = [0, 0, 0];
let broken: string | undefined;
console.log("| configuration | runs | states | steps | s | explored |\n|---|---|---|---|---|---|");
for (const configuration of chosen) {
  const began = process.cpuUsage();
  const seconds = () => process.cpuUsage(began).user / 1e6;
  let shownAt = 0;
  const goesOn = (soFar: { runs: number; states: number; waiting: number }) => {
    if (seconds() - shownAt > 10) {
      shownAt = seconds();
      console.error(`${configuration.name}: ${soFar.runs} runs, ${soFar.states} states, ${soFar.waiting} wait`);
    }
    return seconds() < Number(values.seconds) && soFar.states < Number(values.states);
  };
  const { runs, states, steps, isComplete, deviations, failing } = await explore(configuration, budget, { goesOn });
  allRuns += runs;
  allStates += states;
  if (!isComplete) unfinished++;
  const result = failing?.run.violation?.invariant ?? (isComplete ? "all" : `all with up to ${deviations}`);
  console.log(`| ${configuration.name} | ${runs} | ${states} | ${steps} | ${seconds().toFixed(1)} | ${result} |`);
  if (!failing) continue;
  const again = await runSmall(configuration, failing.schedule, {
    fingerprint: new Fingerprint(),
    trace: true,
    offer: () => {},
    isNew: () => true,
  });
  console.log(again.timeline.map((line) => `  ${line}`).join("\n"));
  console.log("With:");
  console.log(again.taken.map((line) => `  ${line}`).join("\n"));
  const { invariant, message } = failing.run.violation!;
  broken = `${configuration.name}: ${invariant}: ${message}`;
  break;
}
const rest = unfinished > 0 ? `, ${unfinished} not to the end` : "";
const bounds = `${budget.preemptions} preemptions and ${budget.faults} faults`;
console.log(
  broken ??
    `${chosen.length} configurations with up to ${bounds}${rest}: ${allRuns} runs, ${allStates} states, no violation`,
);
process.exitCode = broken === undefined ? 0 : 1;
