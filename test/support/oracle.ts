/**
 * What a job's output must be, computed as plainly as possible, and sharing no code with the engine: lists of values where the engine has accumulators,
 * snapshots and shuffles.
 */
import type { EpochRow } from "../../shared/epoch/epoch.ts";
import type { WindowAssigner } from "../../shared/index.ts";
import {
  type Input,
  isLarge,
  isRefused,
  type Job,
  type Output,
  parse,
  type Reading,
  type Row,
  wideWindow,
} from "./readings.ts";

interface Open {
  readonly key: string;
  readonly windowStart: number;
  readonly windowEnd: number;
  /** Values in the order of input, a list for each sub-range: floats are summed in each first. */
  readonly shares: Reading[][];
  changed: boolean;
}

/** One windowed aggregation. */
class Windows {
  readonly rows: Row[] = [];
  readonly late: Row[] = [];
  readonly #open = new Map<string, Open>();
  readonly #assigner: WindowAssigner;
  readonly #allowedLateness: number;

  constructor(assigner: WindowAssigner, allowedLateness: number) {
    this.#assigner = assigner;
    this.#allowedLateness = allowedLateness;
  }

  /** Takes the readings of one sub-range. */
  add(readings: readonly Reading[], watermark: number): void {
    const shares = new Map<Open, Reading[]>();
    for (const value of readings) {
      const { key, time: timestamp } = value;
      for (const window of windowsOf(this.#assigner, timestamp)) {
        if (window.windowEnd + this.#allowedLateness <= watermark) {
          this.late.push({ key, value, timestamp, ...window });
          continue;
        }
        const name = `${window.windowStart} ${key}`;
        const open = this.#open.get(name) ?? { key, ...window, shares: [], changed: true };
        this.#open.set(name, open);
        shares.set(open, [...(shares.get(open) ?? []), value]);
      }
    }
    for (const [open, share] of shares) {
      open.shares.push(share);
      open.changed = true;
    }
  }

  fire(watermark: number): void {
    for (const [name, open] of this.#open) {
      if (open.windowEnd > watermark) continue;
      if (open.changed) this.rows.push(rowOf(open));
      open.changed = false;
      if (open.windowEnd + this.#allowedLateness <= watermark) this.#open.delete(name);
    }
  }
}

interface Kept {
  values: number[];
  latest: number;
  changed: boolean;
}

/** Running aggregates, value by value: one that is too much later than the key's latest begins the key anew, and so does one that comes when it is over. */
class Running {
  readonly rows: Row[] = [];
  readonly #kept = new Map<string, Kept>();
  readonly #expireAfter: number;

  constructor({ expireAfter = after }: Job) {
    this.#expireAfter = expireAfter;
  }

  add(readings: readonly Reading[], watermark: number): void {
    for (const { key, time, value } of readings) {
      const known = this.#kept.get(key);
      const end = (known?.latest ?? before) + this.#expireAfter;
      const isOver = !known || time >= end || (!known.changed && end <= watermark);
      const kept = isOver ? { values: [], latest: time, changed: true } : known;
      kept.values.push(value);
      this.#kept.set(key, Object.assign(kept, { latest: Math.max(kept.latest, time), changed: true }));
    }
  }

  fire(): void {
    for (const [key, kept] of this.#kept) {
      const { values, latest: timestamp, changed } = kept;
      if (changed) this.rows.push({ key, count: values.length, values: [...values], timestamp });
      kept.changed = false;
    }
  }
}

const before = Number.NEGATIVE_INFINITY;
const after = Number.POSITIVE_INFINITY;

/** The evaluation of the plans that a ledger recorded: which records are late depends on them, and on them only (protocol §7). */
export function evaluatePlans(
  job: Job,
  input: Input,
  epochs: readonly EpochRow[],
): Output & { watermarks: (number | null)[] } {
  const narrow = new Windows(job.window, job.allowedLateness);
  const wide = new Windows(wideWindow(job), 0);
  const running = new Running(job);
  const large: Row[] = [];
  const rejected: Row[] = [];
  const largest = new Map<string, number>();
  const watermarks = [before];

  for (const { plan } of epochs) {
    const watermark = watermarks.at(-1)!;
    for (const { partition, lines } of subRanges(plan, input)) {
      const readings: Reading[] = [];
      for (const { offset, text } of lines) {
        const reading = tryParse(text);
        if (reading) readings.push(reading);
        else rejected.push({ partition, offset, value: text });
      }
      for (const { time } of readings) largest.set(partition, Math.max(time, largest.get(partition) ?? time));
      large.push(...readings.filter(isLarge).map((reading) => ({ ...reading })));
      narrow.add(readings, watermark);
      wide.add(readings, watermark);
      running.add(readings, watermark);
    }
    watermarks.push(watermarkOf(plan, largest, job.outOfOrder, watermark));
    narrow.fire(watermarks.at(-1)!);
    wide.fire(watermarks.at(-1)!);
    running.fire();
  }
  const refused = narrow.rows.filter(isRefused).map((value) => ({ partition: "", offset: -1, value }));
  return {
    rows: narrow.rows.filter((row) => !isRefused(row)),
    wide: wide.rows.map(countOnly),
    running: running.rows,
    late: narrow.late,
    large,
    rejected: [...rejected, ...refused],
    watermarks: watermarks.map((watermark) => (watermark === before ? null : watermark)),
  };
}

/** All of the input at once: each window's last row, and each key's. What comes out for whichever cuts, as long as no record is too late for them. */
export function evaluateAtOnce(job: Job, input: Input): Pick<Output, "rows" | "running"> {
  const windows = new Windows(job.window, 0);
  const running = new Running(job);
  const partitions = Object.keys(input).sort();
  const readings = partitions.flatMap((id) => input[id]!.flatMap((text) => tryParse(text) ?? []));
  windows.add(readings, before);
  running.add(readings, before);
  windows.fire(after);
  running.fire();
  return { rows: windows.rows.filter((row) => !isRefused(row)), running: running.rows };
}

const countOnly = ({ key, windowStart, windowEnd, count }: Row): Row => ({ key, windowStart, windowEnd, count });

/** In the order of partitions and offsets. */
function subRanges({ partitions }: EpochRow["plan"], input: Input) {
  return partitions.flatMap(({ id, from, to, cuts }) =>
    [from, ...cuts].map((start, index) => ({ partition: id, lines: linesOf(input[id]!, start, cuts[index] ?? to) })),
  );
}

function tryParse(text: string): Reading | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Lines that begin in `[from, to)`; offsets are in bytes. */
function linesOf(lines: readonly string[], from: number, to: number): { offset: number; text: string }[] {
  const found: { offset: number; text: string }[] = [];
  let offset = 0;
  for (const text of lines) {
    if (offset >= from && offset < to) found.push({ offset, text });
    offset += Buffer.byteLength(text) + 1;
  }
  return found;
}

function windowsOf(
  { sizeMs, everyMs, offsetMs = 0 }: WindowAssigner,
  time: number,
): { windowStart: number; windowEnd: number }[] {
  const found = [];
  const latest = Math.floor((time - offsetMs) / everyMs) * everyMs + offsetMs;
  for (let start = latest; start > time - sizeMs; start -= everyMs)
    found.unshift({ windowStart: start, windowEnd: start + sizeMs });
  return found;
}

/** protocol §7, Event time: the minimum over the partitions that are not idle; if all are, the maximum; never back. */
function watermarkOf(
  { partitions, advanceTo }: EpochRow["plan"],
  largest: ReadonlyMap<string, number>,
  outOfOrder: number,
  last: number,
): number {
  const timeOf = ({ id }: { id: string }) => largest.get(id) ?? before;
  const active = partitions.filter((one) => !one.idle).map(timeOf);
  const reached = active.length > 0 ? Math.min(...active) : Math.max(...partitions.map(timeOf));
  return Math.max(reached - outOfOrder, advanceTo ?? before, last);
}

function rowOf({ key, windowStart, windowEnd, shares }: Open): Row {
  const values = shares.flat().map((reading) => reading.value);
  const total = shares
    .map((share) => share.reduce((sum, { value }) => sum + value, 0))
    .reduce((sum, share) => sum + share);
  const longest = shares.flat().reduce((left, right) => (right.value >= left.value ? right : left));
  const { length: count } = values;
  return {
    key,
    windowStart,
    windowEnd,
    count,
    sum: total,
    max: Math.max(...values),
    average: total / count,
    values,
    longest,
  };
}
