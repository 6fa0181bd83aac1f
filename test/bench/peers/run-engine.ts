import { execFile, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { KafkaBroker } from "../../support/kafka/broker.ts";
import type { Oracle } from "../../support/kafka/oracle.ts";
import { javaCommand } from "./build.ts";
import { committedFiles, compareRows } from "./check.ts";
import type { Engine, Place } from "./engines.ts";
import { busySeconds, type Usage, usageOf, usageUntilEnd } from "./process-usage.ts";

export interface Job {
  readonly broker: KafkaBroker;
  readonly oracle: Oracle;
  /** The loaded topic. */
  readonly input: string;
  readonly records: number;
  /** Counts by `<start of the window> <word>`. */
  readonly expected: ReadonlyMap<string, number>;
  readonly folder: string;
}

export interface Run extends Usage {
  readonly engine: Engine;
  readonly records: number;
  /** From the start of the job to its last result; NaN if it failed. */
  readonly jobSeconds: number;
  readonly brokerCpuSeconds: number;
  /** All else on the machine meanwhile: the watcher, which is about a second, and noise. */
  readonly otherCpuSeconds: number;
  /** What is wrong with the results, or why there are none. */
  readonly complaint: string | undefined;
}

const partitions = 4;
const watchMs = 20;
const longestRunMs = 1_800_000;

/** Runs an engine on the loaded topic, in a process of its own, and compares its results. A failed or wrong run's folder is kept. */
export async function runEngine(engine: Engine, job: Job, round: number): Promise<Run> {
  const { broker, oracle, input, records, folder } = job;
  const output = `counts-${engine.name}-${round}`;
  const place = { bootstrap: broker.bootstrap, input, output, work: join(folder, output) };
  mkdirSync(place.work);
  await oracle.createTopic(output, partitions);
  const before = { broker: usageOf(broker.pid)!.cpuSeconds, busy: busySeconds() };
  const stopWatching = watchEnds(oracle, output);
  const { marks, failure, ...usage } = await execute(engine.command(place), place.work);
  const brokerCpuSeconds = usageOf(broker.pid)!.cpuSeconds - before.broker;
  const otherCpuSeconds = busySeconds() - before.busy - usage.cpuSeconds - brokerCpuSeconds;
  const visible = await stopWatching();
  const results = failure
    ? { complaint: failure, ended: Number.NaN }
    : await (engine.results === "topic" ? resultsInTopic(place, job, visible) : resultsInFiles(place, job, marks));
  await oracle.deleteTopic(output);
  if (!results.complaint) rmSync(place.work, { recursive: true });
  const jobSeconds = (results.ended - (marks.get("start") ?? Number.NaN)) / 1000;
  return { engine, records, jobSeconds, ...usage, brokerCpuSeconds, otherCpuSeconds, complaint: results.complaint };
}

interface Results {
  /** Epoch milliseconds at which the last one could be read. */
  readonly ended: number;
  readonly complaint: string | undefined;
}

/** What could be read when: offsets by partition, and since when in epoch milliseconds. */
type Visible = readonly { readonly at: number; readonly offsets: readonly number[] }[];

async function resultsInTopic({ bootstrap, output, work }: Place, job: Job, visible: Visible): Promise<Results> {
  const file = join(work, "results");
  const [program, ...parameters] = javaCommand("tools", "Dump", [bootstrap, output, file], "1g");
  const { stdout } = await promisify(execFile)(program!, parameters);
  const { badKeys, lastOffsets } = JSON.parse(stdout) as { badKeys: number; lastOffsets: number[] };
  const last = visible.find(({ offsets }) => lastOffsets.every((offset, partition) => offsets[partition]! > offset));
  const keys = badKeys === 0 ? undefined : `${badKeys} records whose key is not their word`;
  return { ended: last?.at ?? Number.NaN, complaint: keys ?? (await compareRows([file], job.expected)) };
}

async function resultsInFiles({ work }: Place, job: Job, marks: ReadonlyMap<string, number>): Promise<Results> {
  const complaint = await compareRows(committedFiles(join(work, "out")), job.expected);
  return { ended: marks.get("end")!, complaint };
}

/** Notes the ends that read_committed readers see until it is told to stop. */
function watchEnds(oracle: Oracle, topic: string): () => Promise<Visible> {
  const visible: { at: number; offsets: readonly number[] }[] = [];
  let stopped = false;
  const watching = (async () => {
    for (; !stopped; await sleep(watchMs)) {
      const offsets = await oracle.offsets(topic, "last-stable");
      const at = Date.now();
      if (String(offsets) !== String(visible.at(-1)?.offsets)) visible.push({ at, offsets });
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return visible;
  };
}

interface Execution extends Usage {
  /** Epoch milliseconds by name. */
  readonly marks: ReadonlyMap<string, number>;
  /** How it failed. */
  readonly failure: string | undefined;
}

/** Runs a program to its end. What it prints goes into files of the folder. */
async function execute([program, ...parameters]: readonly string[], folder: string): Promise<Execution> {
  const [stdout, stderr] = ["stdout", "stderr"].map((name) => join(folder, name)) as [string, string];
  const stdio = ["ignore", openSync(stdout, "w"), openSync(stderr, "w")] as const;
  // As the command's launcher does: the sources need not be stripped of their types by every thread.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };
  const limit = { timeout: longestRunMs, killSignal: "SIGKILL" } as const;
  const child = spawn(program!, parameters, { cwd: folder, env, ...limit, stdio: [...stdio] });
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`));
  });
  const usage = child.pid === undefined ? { cpuSeconds: 0, peakBytes: 0 } : await usageUntilEnd(child.pid);
  const failure = await ended;
  const marks = [...readFileSync(stdout, "utf8").matchAll(/^MARK (\w+) (\d+)$/gm)];
  return {
    ...usage,
    marks: new Map(marks.map(([, name, at]) => [name!, Number(at)])),
    failure: failure && `${failure}, see ${folder}:\n${readFileSync(stderr, "utf8").slice(-2000)}`,
  };
}
