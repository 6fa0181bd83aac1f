import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunOptions, RunResult } from "../../local/options.ts";
import { runWith } from "../../local/run.ts";
import type { Internals } from "../../local/session.ts";
import { readRows } from "../../shared/adapters/filesystem/reader.ts";
import {
  average,
  collect,
  count,
  type Definition,
  deadLetter,
  files,
  max,
  pipeline,
  reduce,
  sum,
  tumbling,
  type WindowAssigner,
} from "../../shared/index.ts";

/** A job that has all there is: two stages, sinks in both, windows and running aggregates, late records, dead letters, aggregates that depend on the order. */
export interface Job {
  readonly window: WindowAssigner;
  readonly allowedLateness: number;
  readonly outOfOrder: number;
  /** Of the running aggregates; undefined: they are for ever. */
  readonly expireAfter: number | undefined;
}

export interface Reading {
  readonly time: number;
  readonly key: string;
  readonly value: number;
}

export type Row = Readonly<Record<string, unknown>>;

/** Ids of its sinks. "large" needs no key, and is written by the stage that reads. */
export const sinks = ["rows", "wide", "running", "late", "large", "rejected"] as const;
export type SinkId = (typeof sinks)[number];
/** Rows by sink. */
export type Output = Readonly<Record<SinkId, readonly Row[]>>;

export const isLarge = (reading: Reading): boolean => reading.value > 50;
/** Rows that become dead letters. */
export const isRefused = ({ key, windowStart }: Row): boolean => key === "c" && Number(windowStart) % 4 === 0;
/** Windows of a second aggregation, beside the job's own. */
export const wideWindow = ({ window }: Job): WindowAssigner => tumbling(2 * window.sizeMs);
/** Files with lines, by name. */
export type Input = Readonly<Record<string, readonly string[]>>;

export const line = ({ time, key, value }: Reading): string => `${time} ${key} ${value}`;

/** @throws for a line that is none */
export function parse(text: string): Reading {
  const [time, key, value] = text.split(" ");
  if (key === undefined || !Number.isFinite(Number(time))) throw new Error("this is no reading");
  return { time: Number(time), key, value: Number(value) };
}

function readingsPipeline(folder: string, job: Job): Definition {
  const sink = (id: SinkId) => files.sink({ path: join(folder, id) });
  const readings = pipeline("readings", { keyGroups: 8, onError: deadLetter(sink("rejected")) }).from(
    files.source({
      path: join(folder, "input"),
      value: (text) => parse(text),
      timestamp: (reading) => reading.time,
      outOfOrder: job.outOfOrder,
    }),
  );
  readings.filter(isLarge).to(sink("large"), { id: "large" });
  const keyed = readings.keyBy((reading) => reading.key);
  keyed.window(wideWindow(job)).aggregate({ count: count() }).to(sink("wide"), { id: "wide" });
  keyed
    .aggregate(
      { count: count(), values: collect((reading) => reading.value) },
      job.expireAfter === undefined ? {} : { expireAfter: job.expireAfter },
    )
    .map((row, { timestamp }) => ({ ...row, timestamp }))
    .to(sink("running"), { id: "running" });
  return keyed
    .window(job.window, { allowedLateness: job.allowedLateness, late: sink("late") })
    .aggregate({
      count: count(),
      sum: sum((reading) => reading.value),
      max: max((reading) => reading.value),
      average: average((reading) => reading.value),
      values: collect((reading) => reading.value),
      longest: reduce<Reading>((left, right) => (right.value >= left.value ? right : left)),
    })
    .map((row) => {
      if (isRefused(row)) throw new Error("refused");
      return row;
    })
    .to(sink("rows"), { id: "rows" });
}

/** The job in a folder of its own: input, state and outputs lie there. */
export class Workplace {
  readonly folder: string;
  readonly state: string;
  readonly #job: Job;

  constructor(folder: string, job: Job, input: Input = {}) {
    this.folder = folder;
    this.state = join(folder, "state");
    this.#job = job;
    mkdirSync(join(folder, "input"), { recursive: true });
    for (const [name, lines] of Object.entries(input)) this.append(name, lines);
  }

  append(name: string, lines: readonly string[]): void {
    writeFileSync(join(this.folder, "input", name), lines.map((text) => `${text}\n`).join(""), { flag: "a" });
  }

  /** Operators run in this thread. */
  async run(options: RunOptions = {}, internals: Internals = {}): Promise<RunResult> {
    return await runWith(readingsPipeline(this.folder, this.#job), { ...options, state: this.state }, internals);
  }

  output(sink: SinkId): string {
    return join(this.folder, sink);
  }

  /** What `epochflow read` prints, by sink. */
  async read(): Promise<Record<SinkId, string[]>> {
    const texts: Record<SinkId, string[]> = { rows: [], wide: [], running: [], late: [], large: [], rejected: [] };
    for (const sink of sinks) for await (const text of readRows(this.output(sink))) texts[sink].push(text);
    return texts;
  }

  async readRows(): Promise<Output> {
    const { rows, wide, running, late, large, rejected } = await this.read();
    const parsed = (texts: readonly string[]): Row[] => texts.map((text) => JSON.parse(text));
    return {
      rows: parsed(rows),
      wide: parsed(wide),
      running: parsed(running),
      late: parsed(late),
      large: parsed(large),
      rejected: parsed(rejected),
    };
  }
}
