/** `npm run bench:peers`: the same jobs on several engines (`--help` says more). */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { startKafka } from "../../support/kafka/broker.ts";
import { startOracle } from "../../support/kafka/oracle.ts";
import { emit, optionsOrExit, say } from "../../support/program.ts";
import { grouped } from "../report.ts";
import { buildJava, buildPackage } from "./build.ts";
import type { Engine } from "./engines.ts";
import { measureLatency } from "./latency.ts";
import { loadLines } from "./load.ts";
import { help, type Options, parseOptions } from "./options.ts";
import { measureRecovery } from "./recovery.ts";
import type { Checked } from "./report.ts";
import { latencyLine, latencySummaries, latencyTable } from "./report-latency.ts";
import { recoveryLine, recoverySummaries, recoveryTable } from "./report-recovery.ts";
import { throughputLine, throughputSummaries, throughputTable } from "./report-throughput.ts";
import { measureThroughput } from "./throughput.ts";
import type { World } from "./world.ts";

/** As the peers' defaults expect it: a broker that is quick rather than small. */
const brokerOptions = {
  jvm: ["-Xms1g", "-Xmx1g"],
  settings: { "offsets.topic.num.partitions": 8, "transaction.state.log.num.partitions": 8 },
};

/** @returns whether all was right */
async function bench(options: Options): Promise<boolean> {
  const chosen = Object.values(options.engines).flat();
  say("fetching and compiling");
  await buildPackage();
  await buildJava(["tools", ...new Set(chosen.flatMap(({ module }) => module ?? []))]);
  const folder = mkdtempSync(join(tmpdir(), "epochflow-peers-"));
  const tidy = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", tidy);
  await using broker = await startKafka(brokerOptions);
  await using oracle = await startOracle(broker.bootstrap);
  const world: World = { broker, oracle, folder, keep: () => process.off("exit", tidy) };
  const right = [await throughput(world, options), await latency(world, options), await recovery(world, options)];
  return right.every(Boolean);
}

async function throughput(world: World, { records, runs, engines: { throughput: engines } }: Options) {
  if (engines.length === 0) return true;
  say(`loading ${grouped(records)} records`);
  const lines = await loadLines(world, records);
  return await rounds(world, {
    ...{ engines, runs, title: `Throughput: ${grouped(records)} records` },
    measure: (engine, round) => measureThroughput(engine, world, lines, round),
    ...{ line: throughputLine, summaries: throughputSummaries, table: throughputTable },
  });
}

async function latency(world: World, { latency, runs, engines: { latency: engines } }: Options) {
  return await rounds(world, {
    ...{ engines, runs, title: `Latency: ${grouped(latency.rate)} records a second` },
    measure: (engine, round) => measureLatency(engine, world, latency, round),
    ...{ line: latencyLine, summaries: latencySummaries, table: latencyTable },
  });
}

async function recovery(world: World, { recovery, runs, engines: { recovery: engines } }: Options) {
  return await rounds(world, {
    ...{ engines, runs, title: `Recovery: ${grouped(recovery.keys)} keys, killed ${recovery.kills} times a run` },
    measure: (engine, round) => measureRecovery(engine, world, recovery, round),
    ...{ line: recoveryLine, summaries: recoverySummaries, table: recoveryTable },
  });
}

interface Rounds<Run> {
  readonly engines: readonly Engine[];
  readonly runs: number;
  readonly title: string;
  measure(engine: Engine, round: number): Promise<Run>;
  line(run: Run): object;
  summaries(runs: readonly Run[]): readonly object[];
  table(runs: readonly Run[]): string;
}

/** Rounds are interleaved, so that what else the machine does meets all engines alike. @returns whether all was right */
async function rounds<Run extends Checked>(
  world: World,
  { engines, runs, title, ...part }: Rounds<Run>,
): Promise<boolean> {
  if (engines.length === 0) return true;
  const done: Run[] = [];
  for (let round = 1; round <= runs; round++)
    for (const engine of engines) {
      say(`${title}, round ${round} of ${runs}: ${engine.name}`);
      const run = await part.measure(engine, round);
      if (run.complaint) {
        say(`${engine.name}: ${run.complaint}`);
        world.keep();
      }
      emit(part.line(run));
      done.push(run);
    }
  part.summaries(done).forEach(emit);
  say(`\n${title}, ${availableParallelism()} processors, medians of ${runs}\n\n${part.table(done)}\n`);
  return done.every(({ complaint }) => complaint === undefined);
}

// What runs at that moment ends with this process, and so does the broker.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const options = optionsOrExit("bench:peers", help, () => parseOptions());
if (options && !(await bench(options))) process.exitCode = 1;
