import { rmSync } from "node:fs";
import { javaCommand } from "./build.ts";
import type { Engine, Place } from "./engines.ts";
import type { Usage } from "./process-usage.ts";
import { Program } from "./program.ts";
import { newPlace, type World } from "./world.ts";

export interface LatencyOptions {
  /** Records a second. */
  readonly rate: number;
  /** Seconds that are measured, after as many of warm-up. */
  readonly seconds: number;
}

export interface LatencyRun extends Usage {
  readonly engine: Engine;
  readonly round: number;
  readonly options: LatencyOptions;
  /** Milliseconds from the send of a record to the poll that gave it to a read_committed reader; NaN if it failed. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Whether records at the end did not take longer than those at the beginning. */
  readonly keepsUp: boolean;
  /** What is wrong with the output, or why there is none. */
  readonly complaint: string | undefined;
}

/** What `java/tools/…/Latency.java` prints. */
export interface Measured {
  readonly sent: number;
  readonly received: number;
  readonly doubled: number;
  readonly wrong: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly p50OfHalves: readonly [number, number];
}

const failed = { p50: Number.NaN, p99: Number.NaN, max: Number.NaN, keepsUp: false };
const longestMs = 600_000;

/** Passes records through an engine at a rate, and measures how long they take. */
export async function measureLatency(engine: Engine, world: World, options: LatencyOptions, round: number) {
  const place = await newPlace(world, `pass-${engine.name}-${round}`);
  const program = new Program(engine.command(place), place.work, { longestMs });
  const measured = await measure(program, place, options).catch((error: Error) => error);
  const { cpuSeconds, peakBytes } = await program.kill();
  await Promise.all([place.input, place.output].map((topic) => world.oracle.deleteTopic(topic)));
  const run = { engine, round, options, cpuSeconds, peakBytes };
  if (measured instanceof Error) return { ...run, ...failed, complaint: measured.message };
  const complaint = complaintAbout(measured, options);
  if (!complaint) rmSync(place.work, { recursive: true });
  const { p50, p99, max } = measured;
  return { ...run, p50, p99, max, keepsUp: keepsUp(measured, engine.epochMs!), complaint };
}

async function measure(program: Program, { bootstrap, input, output, work }: Place, { rate, seconds }: LatencyOptions) {
  await program.mark("start");
  const [warmUp, measured] = [String(seconds), String(seconds)];
  const lines: string[] = [];
  const command = javaCommand("tools", "Latency", [bootstrap, input, output, String(rate), warmUp, measured], {
    work,
    heap: "1g",
  });
  const { failure } = await new Program(command, work, { longestMs }, (line) => lines.push(line)).ended;
  if (failure) throw new Error(failure);
  return JSON.parse(lines.join("")) as Measured;
}

/** Every record is to come once, as it was; and so many are to be sent as the rate says. */
export function complaintAbout(measured: Measured, { rate, seconds }: LatencyOptions): string | undefined {
  const { sent, received, doubled, wrong } = measured;
  const wanted = rate * seconds * 2;
  if (sent < 0.99 * wanted) return `the machine was too busy: only ${sent} of ${wanted} records were sent in time`;
  const found = Object.entries({ missing: sent - received, doubled, wrong }).filter(([, number]) => number !== 0);
  return found.length === 0 ? undefined : found.map(([what, number]) => `${number} ${what}`).join(", ");
}

/** Noise of a tenth, and of a part of the interval, is no sign of a growing backlog; a backlog of many intervals is one that has grown. */
export function keepsUp({ p50OfHalves: [first, second] }: Measured, intervalMs: number): boolean {
  return second <= 1.1 * first + 10 + intervalMs / 5 && second <= 100 + 10 * intervalMs;
}
