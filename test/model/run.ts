import { configuration, EARLIER, mutants, protocol, without } from "./configurations.ts";
import { explore, type Model, type Result } from "./explore.ts";

const help = `Explores the checkpoint protocol exhaustively (test/model/README.md).

npm run model -- protocol [WORDS] [MOST STATES]   every configuration, or those with these words (about 10 minutes, 4 GB)
npm run model -- fixes                            the protocol without one of its fixes: each breaks
npm run model -- mutants                          deliberate faults: each breaks, but for one
npm run model -- trace NAME                       a shortest counterexample of any name that the others print
`;

/** A row of the tables in README.md. */
function row(name: string, { states, transitions, seconds, violation, trace, complete }: Result): string {
  const holds = complete ? "holds" : "not finished: no safety violation so far, liveness not checked";
  const result = violation === null ? holds : `${violation} (${trace.length} lines)`;
  return `| ${name} | ${states} | ${transitions} | ${seconds.toFixed(1)} | ${result} |`;
}

function table(models: Iterable<[string, Model<unknown>]>, mostStates?: number): void {
  console.log("| configuration | states | transitions | s | result |\n|---|---|---|---|---|");
  for (const [name, model] of models) console.log(row(name, explore(model, mostStates)));
}

function* bothWordings(words: string): Generator<[string, Model<unknown>]> {
  for (const [name, make] of Object.entries(protocol)) {
    if (!name.includes(words)) continue;
    yield [name + EARLIER, make(false)];
    yield [name, make(true)];
  }
}

function trace(name: string): void {
  const model = configuration(name);
  if (model === undefined) throw new Error(`no configuration of the name ${JSON.stringify(name)}`);
  const { violation, trace } = explore(model);
  console.log(`${violation ?? "holds"}\n${trace.join("\n")}`);
}

const [, , what, name = "", mostStates] = process.argv;
if (what === "protocol") table(bothWordings(name), mostStates === undefined ? undefined : Number(mostStates));
else if (what === "fixes") table(Object.entries(without));
else if (what === "mutants") table(Object.entries(mutants).map(([name, { wrong }]) => [name, wrong]));
else if (what === "trace") trace(name);
else console.log(help);
