import type { Point, PointFigures, StepFigures } from "./measure.ts";
import type { Limit } from "./verdict.ts";

/** One thing that grows, while all else stays as it is. */
export interface Dimension {
  readonly name: string;
  /** What its points are: "records", "keys". */
  readonly unit: string;
  readonly about: string;
  readonly values: readonly number[];
  /** A few seconds' worth of it. */
  readonly quickValues: readonly number[];
  /** @param scale records of a step that is not bound to the value; 1 in full, less for a quick look */
  point(value: number, scale: number): Point;
  /** Partitions of a topic that the point's records have to be in. */
  partitions?(value: number): number;
  /** The step that the point's figures are of; by default the last. */
  readonly shown?: number;
  readonly checks: readonly Check[];
}

export interface Check extends Limit {
  figure(figures: PointFigures): number;
  /** Points below are not asked: what is fixed outweighs the rest. */
  readonly from?: number;
  /** A time, which on a busy machine may be more than it is. */
  readonly isTime?: true;
}

const last = ({ steps }: PointFigures): StepFigures => steps.at(-1)!;

export const cpuARecord = ({ cpuMs, records }: StepFigures): number => (cpuMs * 1000) / records;

const cpu = (mostGrowth: number): Check => ({
  what: "CPU a record",
  mostGrowth,
  isTime: true,
  figure: (figures) => cpuARecord(last(figures)),
});
const snapshotBytes = (mostGrowth: number): Check => ({
  what: "snapshot bytes an epoch",
  mostGrowth,
  figure: (figures) => last(figures).snapshotBytes,
});

/** Time goes on; a thousand keys come ten times in each window. */
const moving = { keys: 1000, windows: 0 };
const twoGigabytes = 2 * 1024 ** 3;
/** Keys that an epoch changes, and epochs that change them: enough for chains of snapshots to be compacted several times. */
const changed = 1000;
const changes = 40;

const input: Dimension = {
  name: "input",
  unit: "records",
  about: "records ×1, ×4 and ×16, in epochs of 20,000",
  values: [100_000, 400_000, 1_600_000],
  quickValues: [4000, 16_000],
  point: (records, scale) => ({ workload: moving, steps: [{ records, epochRecords: Math.ceil(20_000 * scale) }] }),
  checks: [cpu(1.5), snapshotBytes(1.5)],
};

/** First all keys come once; then epochs change a thousand of them, as many as ever the state has; then all windows are closed. */
const keys: Dimension = {
  name: "keys",
  unit: "keys",
  about: `keys of one window: each comes once, then ${changes} epochs change ${changed}, then all results are written`,
  values: [1e3, 1e4, 1e5, 1e6, 1e7],
  quickValues: [1e3, 1e4],
  point: (keys, scale) => ({
    workload: { keys, windows: 1 },
    steps: [
      { records: keys, epochRecords: Math.max(1000, Math.min(500_000, keys / 4)), hold: true },
      { records: Math.ceil(changes * scale) * changed, epochRecords: changed, hold: true },
      { records: 1, epochRecords: 1 },
    ],
  }),
  shown: 1,
  checks: [
    { what: "CPU a new key", mostGrowth: 2.5, from: 1e5, isTime: true, figure: ({ steps }) => cpuARecord(steps[0]!) },
    { what: "CPU a changed key", mostGrowth: 3, isTime: true, figure: ({ steps }) => cpuARecord(steps[1]!) },
    // Of a thousand keys the change is all of the state, which is less than a part of a larger one: all keys that lie side by side.
    {
      what: "snapshot bytes an epoch of changes",
      mostGrowth: 2,
      from: 1e4,
      figure: ({ steps }) => steps[1]!.snapshotBytes,
    },
    { what: "peak bytes", most: twoGigabytes, figure: ({ peakBytes }) => peakBytes },
  ],
};

const entries = 100_000;

const windows: Dimension = {
  name: "windows",
  unit: "open windows",
  about: `${entries} counts in so many open windows; each epoch changes a tenth of them`,
  values: [1, 10, 100, 1000],
  quickValues: [1, 100],
  point: (windows, scale) => ({
    workload: { keys: (entries * scale) / windows, windows },
    steps: [
      { records: entries * scale, epochRecords: (entries * scale) / 4, hold: true },
      { records: entries * scale * Math.ceil(4 * scale), epochRecords: (entries * scale) / 10 },
    ],
  }),
  // A thousand windows in 128 key groups are 128,000 places for 10,000 changes: each then lies nearly alone.
  checks: [cpu(3), snapshotBytes(2)],
};

/** Records a second of a stream that an epoch's length is told by. */
const rate = 20_000;

const epochs: Dimension = {
  name: "epochs",
  unit: "ms an epoch",
  about: `epochs of 100 ms to 60 s of a stream of ${rate} records a second`,
  values: [100, 1000, 10_000, 60_000],
  quickValues: [100, 1000],
  point: (ms, scale) => ({
    workload: moving,
    steps: [{ records: rate * 60 * scale, epochRecords: (rate * ms * scale) / 1000 }],
  }),
  checks: [cpu(1.5)],
};

const tasks: Dimension = {
  name: "tasks",
  unit: "tasks",
  about: "tasks of each stage, each in a worker thread",
  values: [1, 2, 4],
  quickValues: [1, 2],
  point: (threads, scale) => ({
    workload: moving,
    // So many that it does not matter much that each thread loads and compiles the program.
    steps: [{ records: 4_800_000 * scale, epochRecords: 400_000 * scale }],
    threads,
  }),
  checks: [cpu(2.5)],
};

/** In epochs as a busy stream has them. */
const busy = (scale: number): Point => ({
  workload: moving,
  steps: [{ records: 1_600_000 * scale, epochRecords: 200_000 * scale }],
});

const partitions: Dimension = {
  name: "partitions",
  unit: "files",
  about: "partitions that the same records are in: files",
  values: [1, 4, 16, 64],
  quickValues: [1, 16],
  point: (files, scale) => ({ ...busy(scale), files }),
  // A partition's records of a key are combined, and then merged with those of the others: of few records, few are combined.
  checks: [cpu(2.5)],
};

const topicPartitions: Dimension = {
  ...partitions,
  name: "topic",
  unit: "topic partitions",
  about: "partitions that the same records are in: of a topic",
  point: (_, scale) => busy(scale),
  partitions: (value) => value,
};

export const dimensions: readonly Dimension[] = [input, keys, windows, epochs, tasks, partitions, topicPartitions];
