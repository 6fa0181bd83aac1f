/**
 * One point of a dimension, in a process of its own, so that its memory is its own too: prints its `PointFigures` as JSON.
 *
 *     node --conditions=epochflow-source test/bench/scale/measure.ts '{"point": …, "folder": …, "warm": true}'
 */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunOptions, RunResult } from "../../../local/options.ts";
import { runWith } from "../../../local/run.ts";
import { countKeys, type Input } from "./pipeline.ts";
import { cpuMs, Probe } from "./probe.ts";
import { append, check, outOfOrderMs, type Workload } from "./workload.ts";

/** Input that is there, and a run until all of it is processed, on the state of the step before. */
export interface Step {
  readonly records: number;
  readonly epochRecords: number;
  /** Windows stay open at its end; otherwise all are closed, and their results written. */
  readonly hold?: boolean;
}

export interface Point {
  readonly workload: Workload;
  readonly steps: readonly Step[];
  /** Files that the input is dealt out among; 1. */
  readonly files?: number;
  /** A topic that has all records, in place of files. */
  readonly topic?: { readonly topic: string; readonly brokers: string };
  /** So many tasks a stage, each in a worker thread; otherwise one, in the process's own. */
  readonly threads?: number;
}

export interface StepFigures {
  readonly records: number;
  readonly epochs: number;
  /** Without what reading the state back costs, which is told apart. */
  readonly cpuMs: number;
  /** Of an epoch. */
  readonly snapshotBytes: number;
  /** CPU time; undefined where it is spent in worker threads. */
  readonly snapshotCpuMs: number | undefined;
  readonly restoreCpuMs: number;
}

export interface PointFigures {
  readonly steps: readonly StepFigures[];
  readonly peakBytes: number;
  /** Results, all of which are right. */
  readonly rows: number;
}

/** Checkpoints whose objects stay: all, so that they can be counted. */
const retain = 1_000_000;
const warmUp = { workload: { keys: 1000, windows: 0 }, steps: [{ records: 40_000, epochRecords: 2000 }] };

async function measure(point: Point, folder: string): Promise<PointFigures> {
  const steps: StepFigures[] = [];
  const input = join(folder, "input");
  mkdirSync(input, { recursive: true });
  let there = 0;
  for (const step of point.steps) {
    if (point.topic === undefined) append(point.workload, input, point.files ?? 1, there, there + step.records);
    there += step.records;
    steps.push(await runStep(point, step, folder));
  }
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  return { steps, peakBytes, rows: await check(point.workload, there, join(folder, "output")) };
}

async function runStep(point: Point, { records, epochRecords, hold = false }: Step, folder: string) {
  const probe = new Probe();
  const options = { state: join(folder, "state"), epochRecords, hold, parallelism: point.threads ?? 1 };
  const snapshotsBefore = point.threads === undefined ? 0 : snapshotBytesIn(options.state);
  const before = cpuMs();
  const result = await (point.threads === undefined
    ? runHere(point, folder, options, probe)
    : runInThreads(point.threads, folder, { ...options, retain }));
  const { outcome, error, progress } = result;
  if (outcome !== "done") throw new Error(`the run ended as ${outcome}: ${error?.message ?? ""}`);
  if (progress.records !== records) throw new Error(`${progress.records} records were read, not ${records}`);
  const { restoreCpuMs = 0 } = probe;
  const bytes = point.threads === undefined ? probe.savedBytes : snapshotBytesIn(options.state) - snapshotsBefore;
  return {
    records,
    epochs: progress.epochs,
    cpuMs: cpuMs() - before - restoreCpuMs,
    snapshotBytes: bytes / progress.epochs,
    snapshotCpuMs: point.threads === undefined ? probe.saveCpuMs / progress.epochs : undefined,
    restoreCpuMs,
  };
}

/** In this thread, where the state store can be watched. */
function runHere({ workload, topic }: Point, folder: string, options: RunOptions, probe: Probe): Promise<RunResult> {
  const from: Input = topic ?? { path: join(folder, "input") };
  const definition = countKeys(from, join(folder, "output"), outOfOrderMs(workload));
  return runWith(definition, options, { engine: probe.watch });
}

function runInThreads(threads: number, folder: string, options: RunOptions): Promise<RunResult> {
  const parameters = { input: join(folder, "input"), output: join(folder, "output") };
  const module = fileURLToPath(new URL("pipeline.ts", import.meta.url));
  const chooseTasks = (_: unknown, stages: number) => Array.from({ length: stages }, () => threads);
  return runWith(module, { ...options, parameters }, { chooseTasks });
}

function snapshotBytesIn(state: string): number {
  const objects = join(state, "objects");
  if (!existsSync(objects)) return 0;
  const names = readdirSync(objects, { recursive: true, encoding: "utf8" });
  const snapshots = names.filter((name) => name.endsWith(".snapshot"));
  return snapshots.reduce((sum, name) => sum + statSync(join(objects, name)).size, 0);
}

interface Command {
  readonly point: Point;
  readonly folder: string;
  /** A small run first, so that V8 has compiled what runs often. */
  readonly warm: boolean;
}

const { point, folder, warm }: Command = JSON.parse(process.argv[2]!);
if (warm) await measure(warmUp, join(folder, "warm-up"));
process.stdout.write(`${JSON.stringify(await measure(point, join(folder, "point")))}\n`);
