/**
 * What a job's output must be, computed as plainly as possible, and sharing no code with the engine: lists of values where the engine has accumulators,
 * snapshots and shuffles.
 */
import type { EpochRow } from "../../shared/epoch/epoch.ts";
import type { WindowAssigner } from "../../shared/index.ts";
import { type Input, isLarge, type Job, type Output, parse, type Reading, type Row } from "./readings.ts";

interface Open {
  readonly key: string;
  readonly windowStart: number;
  readonly windowEnd: number;
  /** Values in the order of input, a list for each sub-range: floats are summed in each first. */
  readonly shares: Reading[][];
  changed: boolean;
}

/** The evaluation of the plans that a ledger recorded: which records are late depends on them, and on them only (DESIGN §7). */
export function evaluatePlans(
  job: Job,
  input: Input,
  epochs: readonly EpochRow[],
): Output & { watermarks: (number | null)[] } {
  const output = { rows: [] as Row[], late: [] as Row[], large: [] as Row[], rejected: [] as Row[] };
  const watermarks: (number | null)[] = [];
  const windows = new Map<string, Open>();
  const largest = new Map<string, number>();
  let watermark: number | null = null;

  for (const { plan } of epochs) {
    watermarks.push(watermark);
    for (const { id, from, to, cuts } of plan.partitions) {
      for (const [index, start] of [from, ...cuts].entries()) {
        const shares = new Map<string, Reading[]>();
        for (const { offset, text } of linesOf(input[id]!, start, cuts[index] ?? to)) {
          const reading = tryParse(text);
          if (!reading) {
            output.rejected.push({ partition: id, offset, value: text });
            continue;
          }
          largest.set(id, Math.max(reading.time, largest.get(id) ?? reading.time));
          if (isLarge(reading)) output.large.push({ ...reading });
          for (const window of windowsOf(job.window, reading.time)) {
            if (watermark !== null && window.windowEnd + job.allowedLateness <= watermark) {
              output.late.push({ key: reading.key, value: reading, timestamp: reading.time, ...window });
              continue;
            }
            const name = `${window.windowStart} ${reading.key}`;
            if (!windows.has(name)) windows.set(name, { key: reading.key, ...window, shares: [], changed: false });
            if (!shares.has(name)) shares.set(name, []);
            shares.get(name)!.push(reading);
          }
        }
        for (const [name, share] of shares) {
          const open = windows.get(name)!;
          open.shares.push(share);
          open.changed = true;
        }
      }
    }
    watermark = watermarkOf(plan, largest, job.outOfOrder, watermark);
    for (const [name, open] of windows) {
      if (watermark === null || open.windowEnd > watermark) continue;
      if (open.changed) output.rows.push(rowOf(open));
      open.changed = false;
      if (open.windowEnd + job.allowedLateness <= watermark) windows.delete(name);
    }
  }
  watermarks.push(watermark);
  return { ...output, watermarks };
}

/** All of the input at once: each window's last row. What comes out for whichever cuts, as long as no record is too late for them. */
export function evaluateAtOnce(job: Job, input: Input): Row[] {
  const windows = new Map<string, Open>();
  for (const id of Object.keys(input).sort()) {
    for (const text of input[id]!) {
      const reading = tryParse(text);
      if (!reading) continue;
      for (const window of windowsOf(job.window, reading.time)) {
        const name = `${window.windowStart} ${reading.key}`;
        const open = windows.get(name) ?? { key: reading.key, ...window, shares: [[]], changed: true };
        windows.set(name, open);
        open.shares[0]!.push(reading);
      }
    }
  }
  return [...windows.values()].map(rowOf);
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

function windowsOf({ sizeMs, everyMs }: WindowAssigner, time: number): { windowStart: number; windowEnd: number }[] {
  const found = [];
  for (let start = Math.floor(time / everyMs) * everyMs; start > time - sizeMs; start -= everyMs)
    found.unshift({ windowStart: start, windowEnd: start + sizeMs });
  return found;
}

/** DESIGN §7, Event time: the minimum over the partitions that are not idle; if all are, the maximum; never back. */
function watermarkOf(
  plan: EpochRow["plan"],
  largest: ReadonlyMap<string, number>,
  outOfOrder: number,
  before: number | null,
): number | null {
  const active = plan.partitions
    .filter((one) => !one.idle)
    .map(({ id }) => largest.get(id) ?? Number.NEGATIVE_INFINITY);
  const all = plan.partitions.map(({ id }) => largest.get(id) ?? Number.NEGATIVE_INFINITY);
  const reached = (active.length > 0 ? Math.min(...active) : Math.max(...all)) - outOfOrder;
  const least = Number.NEGATIVE_INFINITY;
  const watermark = Math.max(reached, plan.advanceTo ?? least, before ?? least);
  return watermark === least ? null : watermark;
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
