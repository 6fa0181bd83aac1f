import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { javaCommand } from "./build.ts";
import { committedFiles, compareRows } from "./check.ts";
import type { Engine, Place } from "./engines.ts";
import { busySeconds, type Usage, usageOf } from "./process-usage.ts";
import { type Ended, Program } from "./program.ts";
import { allVisible, firstVisible, type Visible, watchEnds } from "./visible.ts";
import { newPlace, type World } from "./world.ts";

/** What they count. */
export interface Lines {
  /** The loaded topic. */
  readonly topic: string;
  readonly records: number;
  /** Counts by `<start of the window> <word>`. */
  readonly expected: ReadonlyMap<string, number>;
}

export interface ThroughputRun extends Usage {
  readonly engine: Engine;
  readonly round: number;
  readonly records: number;
  /** From the start of the job to its last result; NaN if it failed. */
  readonly jobSeconds: number;
  /** From the start of the process to the start of the job. */
  readonly bootSeconds: number;
  /** From the start of the job to its first committed result. */
  readonly firstResultMs: number;
  readonly brokerCpuSeconds: number;
  /** All else on the machine meanwhile: the watcher, which is about a second, and noise. */
  readonly otherCpuSeconds: number;
  /** It was done, and had to be killed to end. */
  readonly hung: boolean;
  /** What is wrong with the results, or why there are none. */
  readonly complaint: string | undefined;
}

/** Runs an engine on the loaded topic, in a process of its own, and compares its results. A failed or wrong run's folder is kept. */
export async function measureThroughput(
  engine: Engine,
  world: World,
  lines: Lines,
  round: number,
): Promise<ThroughputRun> {
  const { broker, oracle } = world;
  const place = await newPlace(world, `count-${engine.name}-${round}`, lines.topic);
  const before = { broker: usageOf(broker.pid)!.cpuSeconds, busy: busySeconds() };
  const stopWatching = watchEnds(oracle, place.output);
  const program = new Program(engine.command(place), place.work, { longestMs: 120_000 + lines.records });
  const ended = await program.ended;
  const brokerCpuSeconds = usageOf(broker.pid)!.cpuSeconds - before.broker;
  const otherCpuSeconds = busySeconds() - before.busy - ended.cpuSeconds - brokerCpuSeconds;
  const visible = await stopWatching();
  const results = await resultsOf(engine, program, ended, { place, lines, visible });
  await oracle.deleteTopic(place.output);
  if (!results.complaint) rmSync(place.work, { recursive: true });
  const { cpuSeconds, peakBytes, hung } = ended;
  const start = program.marks.get("start") ?? Number.NaN;
  return {
    ...{ engine, round, records: lines.records, cpuSeconds, peakBytes, hung, complaint: results.complaint },
    jobSeconds: (results.lastAt - start) / 1000,
    bootSeconds: (start - program.startedAt) / 1000,
    firstResultMs: results.firstAt - start,
    brokerCpuSeconds,
    otherCpuSeconds,
  };
}

interface Results {
  /** Epoch milliseconds at which the first one, and the last one, could be read. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly complaint: string | undefined;
}

interface Finished {
  readonly place: Place;
  readonly lines: Lines;
  readonly visible: Visible;
}

async function resultsOf(engine: Engine, { marks }: Program, { failure }: Ended, run: Finished): Promise<Results> {
  if (failure) return { complaint: failure, firstAt: Number.NaN, lastAt: Number.NaN };
  return engine.results === "topic" ? await resultsInTopic(run) : await resultsInFiles(run, marks);
}

async function resultsInTopic({ place: { bootstrap, output, work }, lines, visible }: Finished): Promise<Results> {
  const file = join(work, "results");
  const [program, ...parameters] = javaCommand("tools", "Dump", [bootstrap, output, file], { work, heap: "1g" });
  const { stdout } = await promisify(execFile)(program!, parameters);
  const { badKeys, firstOffsets, lastOffsets } = JSON.parse(stdout) as {
    badKeys: number;
    firstOffsets: number[];
    lastOffsets: number[];
  };
  const keys = badKeys === 0 ? undefined : `${badKeys} records whose key is not their word`;
  const complaint = keys ?? (await compareRows([file], lines.expected));
  return { firstAt: firstVisible(visible, firstOffsets), lastAt: allVisible(visible, lastOffsets), complaint };
}

/** A batch of files appears at once, and all of the input is one. */
async function resultsInFiles({ place, lines }: Finished, marks: ReadonlyMap<string, number>): Promise<Results> {
  const complaint = await compareRows(committedFiles(join(place.work, "out")), lines.expected);
  const end = marks.get("end") ?? Number.NaN;
  return { firstAt: end, lastAt: end, complaint };
}
