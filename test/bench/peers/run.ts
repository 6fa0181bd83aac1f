/** `npm run bench:peers`: the same jobs on several engines (`--help` says more). */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startKafka } from "../../support/kafka/broker.ts";
import { startOracle } from "../../support/kafka/oracle.ts";
import { emit, optionsOrExit, say, wholeNumber } from "../../support/program.ts";
import { buildJava } from "./build.ts";
import { type Engine, throughputEngines } from "./engines.ts";
import { loadLines } from "./load.ts";
import { throughputLine, throughputSummaries, throughputTable } from "./report-throughput.ts";
import { measureThroughput, type World } from "./throughput.ts";

const help = `Runs the jobs of test/bench/peers/JOB.md, from Kafka to Kafka, on several engines, one after the other, against one broker.

npm run bench:peers -- [options]

  --records N     records in the topic (default 1,000,000)
  --engines LIST  of ${throughputEngines.map(({ name }) => name).join(",")} (default: all)
  --runs N        rounds (default 3); in each every engine has one run
  --help          this text

Every result is checked. Tables go to standard error; a JSON line a run, and one of medians an engine, to standard output.
It needs Linux, a JDK (17 or newer) and Maven, which fetches the engines.
`;

interface Options {
  readonly records: number;
  readonly engines: readonly Engine[];
  readonly runs: number;
}

/** As the peers' defaults expect it: a broker that is quick rather than small. */
const brokerOptions = {
  jvm: ["-Xms1g", "-Xmx1g"],
  settings: { "offsets.topic.num.partitions": 8, "transaction.state.log.num.partitions": 8 },
};

/** @returns whether all was right */
async function bench({ records, engines, runs }: Options): Promise<boolean> {
  say("fetching and compiling");
  await buildJava(["tools", ...new Set(engines.flatMap(({ module }) => module ?? []))]);
  const folder = mkdtempSync(join(tmpdir(), "epochflow-peers-"));
  await using broker = await startKafka(brokerOptions);
  await using oracle = await startOracle(broker.bootstrap);
  const world = { broker, oracle, folder };
  const right = await throughput(world, { records, engines, runs });
  if (right) rmSync(folder, { recursive: true });
  return right;
}

async function throughput(world: World, { records, engines, runs }: Options): Promise<boolean> {
  say(`loading ${records.toLocaleString("en")} records`);
  const lines = await loadLines(world, records);
  return await rounds({
    ...{ engines, runs },
    measure: (engine, round) => measureThroughput(engine, world, lines, round),
    line: throughputLine,
    summaries: throughputSummaries,
    table: (all) =>
      `${records.toLocaleString("en")} records, ${availableParallelism()} processors\n\n${throughputTable(all)}`,
  });
}

interface Part<Run> {
  readonly engines: readonly Engine[];
  readonly runs: number;
  measure(engine: Engine, round: number): Promise<Run>;
  line(run: Run): object;
  summaries(runs: readonly Run[]): readonly object[];
  table(runs: readonly Run[]): string;
}

/** Rounds are interleaved, so that what else the machine does meets all engines alike. @returns whether all was right */
async function rounds<Run extends { readonly complaint: string | undefined }>(part: Part<Run>): Promise<boolean> {
  const done: Run[] = [];
  for (let round = 1; round <= part.runs; round++)
    for (const engine of part.engines) {
      say(`round ${round} of ${part.runs}: ${engine.name}`);
      const run = await part.measure(engine, round);
      if (run.complaint) say(`${engine.name}: ${run.complaint}`);
      emit(part.line(run));
      done.push(run);
    }
  part.summaries(done).forEach(emit);
  say(`\n${part.table(done)}\n`);
  return done.every(({ complaint }) => complaint === undefined);
}

/** @throws Error that names the option */
function parseOptions(): Options | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { help: { type: "boolean" }, records: text, engines: text, runs: text } });
  if (values.help) return "help";
  return {
    records: wholeNumber("records", values.records ?? "1000000"),
    engines: values.engines?.split(",").map(engineOf) ?? throughputEngines,
    runs: wholeNumber("runs", values.runs ?? "3"),
  };
}

function engineOf(name: string): Engine {
  const engine = throughputEngines.find((one) => one.name === name.trim());
  if (!engine)
    throw new Error(`--engines knows ${throughputEngines.map(({ name }) => name).join(", ")}, not "${name}"`);
  return engine;
}

// What runs at that moment ends with this process, and so does the broker.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const options = optionsOrExit("bench:peers", help, parseOptions);
if (options && !(await bench(options))) process.exitCode = 1;
