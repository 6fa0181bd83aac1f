import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { readRows } from "../../../shared/adapters/filesystem/reader.ts";
import type { Records } from "../parts/word-count.ts";

/**
 * Records that are made from their numbers: `<time> TAB k<key>`, to be counted by key and window. Which keys and windows come when is fixed, so that every count
 * is known without a second program that counts.
 */
export interface Workload {
  readonly keys: number;
  /** Windows that stay open all the time, and get records in turn; 0: time goes on, and each window gets 10,000 records. */
  readonly windows: number;
}

const start = 1_700_000_000_000;
/** Of a window. */
export const windowMs = 10_000;
/** A prime: so many keys further is each record's, and all keys come before one comes again. */
const step = 7919;

const windowOf = ({ windows }: Workload, record: number) =>
  windows === 0 ? Math.floor(record / windowMs) : record % windows;

const keyOf = ({ keys, windows }: Workload, record: number) =>
  ((windows === 0 ? record : Math.floor(record / windows)) * step) % keys;

/** Epoch milliseconds. */
const timeOf = (workload: Workload, record: number) =>
  start + windowOf(workload, record) * windowMs + (workload.windows === 0 ? record % windowMs : 0);

/** By how much times are out of order, so that no window closes that is to stay open. */
export const outOfOrderMs = ({ windows }: Workload) => windows * windowMs;

const lineOf = (workload: Workload, record: number) => `${timeOf(workload, record)}\tk${keyOf(workload, record)}`;

/** The records `[from, to)` as a source with times of its own has them. */
export function recordsOf(workload: Workload, from: number, to: number): Records {
  const values = Array.from({ length: to - from }, (_, index) => lineOf(workload, from + index));
  return { values, times: values.map((value) => Number(value.slice(0, value.indexOf("\t")))) };
}

/** Appends the records `[from, to)` to so many files, in turn. */
export function append(workload: Workload, folder: string, files: number, from: number, to: number): void {
  const chunk = 50_000 * files;
  for (let at = from; at < to; at += chunk) {
    const texts = Array.from({ length: files }, () => "");
    for (let record = at; record < Math.min(to, at + chunk); record++)
      texts[record % files] += `${lineOf(workload, record)}\n`;
    for (const [file, text] of texts.entries()) appendFileSync(join(folder, `${file}.tsv`), text);
  }
}

/** @throws Error unless the rows of an output are the counts of the records `[0, records)`, each once */
export async function check(workload: Workload, records: number, output: string): Promise<number> {
  const windows = Math.max(workload.windows, windowOf(workload, records - 1) + 1);
  const left = new Uint32Array(windows * workload.keys);
  for (let record = 0; record < records; record++)
    left[windowOf(workload, record) * workload.keys + keyOf(workload, record)]!++;
  let rows = 0;
  for await (const line of readRows(output)) {
    const { key, windowStart, count } = JSON.parse(line);
    const entry = ((windowStart - start) / windowMs) * workload.keys + Number(key.slice(1));
    if (left[entry] !== count || count === 0) throw new Error(`wrong, or there twice: ${line}, not ${left[entry]}`);
    left[entry] = 0;
    rows++;
  }
  const missing = left.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
  if (missing > 0) throw new Error(`${missing} of ${rows + missing} results are missing`);
  return rows;
}
