/** `npm run bench:peers`: one job on several engines (`--help` says more). */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { startKafka } from "../../support/kafka/broker.ts";
import { startOracle } from "../../support/kafka/oracle.ts";
import { emit, optionsOrExit, say, wholeNumber } from "../../support/program.ts";
import { countWords } from "../count-words.ts";
import { buildJava, javaCommand } from "./build.ts";
import { type Engine, engines } from "./engines.ts";
import { figuresOf, table } from "./report.ts";
import { type Job, type Run, runEngine } from "./run-engine.ts";

const help = `Runs the job of test/bench/peers/JOB.md, a windowed word count from Kafka to Kafka, on several engines.

npm run bench:peers -- [options]

  --records N     records in the topic (default 1,000,000)
  --engines LIST  of ${engines.map(({ name }) => name).join(",")} (default: all)
  --runs N        rounds (default 3); in each every engine has one run
  --help          this text

Every result is compared with an independent count. A table goes to standard error, a JSON line a run to standard output.
It needs Linux, a JDK (17 or newer) and Maven, which fetches the engines.
`;

interface Options {
  readonly records: number;
  readonly engines: readonly Engine[];
  readonly runs: number;
}

const input = "lines";

/** As the peers' defaults expect it: a broker that is quick rather than small. */
const brokerOptions = {
  jvm: ["-Xms1g", "-Xmx1g"],
  settings: { "offsets.topic.num.partitions": 8, "transaction.state.log.num.partitions": 8 },
};

async function bench({ records, engines, runs }: Options): Promise<readonly Run[]> {
  say("fetching and compiling");
  await buildJava(["tools", ...new Set(engines.flatMap(({ module }) => module ?? []))]);
  const folder = mkdtempSync(join(tmpdir(), "epochflow-peers-"));
  await using broker = await startKafka(brokerOptions);
  await using oracle = await startOracle(broker.bootstrap);
  say(`loading ${records.toLocaleString("en")} records`);
  const expected = await load(broker.bootstrap, records, folder, () => oracle.createTopic(input, 4));
  const job: Job = { broker, oracle, input, records, expected, folder };
  const done: Run[] = [];
  for (let round = 1; round <= runs; round++)
    for (const engine of engines) {
      say(`round ${round} of ${runs}: ${engine.name}`);
      const run = await runEngine(engine, job, round);
      if (run.complaint) say(`${engine.name}: ${run.complaint}`);
      emit(figuresOf(run));
      done.push(run);
    }
  if (done.every(({ complaint }) => complaint === undefined)) rmSync(folder, { recursive: true });
  return done;
}

/** Fills the topic. @returns the expected counts, by `<start of the window> <word>` */
async function load(bootstrap: string, records: number, folder: string, createTopic: () => Promise<void>) {
  await createTopic();
  const file = join(folder, "lines.tsv");
  const [program, ...parameters] = javaCommand("tools", "Load", [bootstrap, input, String(records), file], "1g");
  await promisify(execFile)(program!, parameters);
  return await countWords(file);
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { help: { type: "boolean" }, records: text, engines: text, runs: text } });
  if (values.help) return "help";
  return {
    records: wholeNumber("records", values.records ?? "1000000"),
    engines: values.engines?.split(",").map(engineOf) ?? engines,
    runs: wholeNumber("runs", values.runs ?? "3"),
  };
}

function engineOf(name: string): Engine {
  const engine = engines.find((one) => one.name === name.trim());
  if (!engine) throw new Error(`--engines knows ${engines.map(({ name }) => name).join(", ")}, not "${name}"`);
  return engine;
}

const options = optionsOrExit("bench:peers", help, parseOptions);
if (options) {
  const runs = await bench(options);
  say(`\n${options.records.toLocaleString("en")} records, ${availableParallelism()} processors\n\n${table(runs)}`);
  if (runs.some(({ complaint }) => complaint !== undefined)) process.exitCode = 1;
}
