import type { DeadLetterRow, LateRow } from "../../../shared/index.ts";
import { differences } from "../../support/kafka/counts.ts";
import { type ResultRow, seenEvery } from "./pipeline.ts";
import type { InputRecord, Placed, Records } from "./records.ts";
import type { Shape } from "./shape.ts";

/** What readers of committed output found; rows of a key in the order in which they were written. */
export interface Found {
  readonly rows: readonly ResultRow[];
  readonly late: readonly LateRow<string, InputRecord>[];
  readonly dead: readonly DeadLetterRow[];
  readonly seen: readonly { readonly id: number }[];
}

const mostTold = 10;

/**
 * A batch evaluation of all input, which knows neither epochs nor watermarks, and what the output has otherwise. Every pair of a record and a window is in
 * the window's result or in the late sink, never in both or in neither; and a record is late only if it lies far enough behind one of its own partition.
 */
export function problemsOf(shape: Shape, records: Records, found: Found): string[] {
  const late = found.late.map(({ value, windowStart }) => pairName(value.id, windowStart));
  return [
    ...told(
      "seen",
      found.seen.map(({ id }) => String(id)),
      idsSeen(records),
    ),
    ...told(
      "dead letters",
      found.dead.map(({ value }) => String(value)),
      records.bad,
    ),
    ...lateProblems(shape, records, late),
    ...told("results", lastRows(found.rows), expectedRows(shape, records, new Set(late))),
    ...orderProblems(shape, found.rows),
  ];
}

const pairName = (id: number, windowStart: number) => `record ${id} in window ${windowStart}`;

const idsSeen = ({ good }: Records) => good.filter(({ id }) => id % seenEvery === 0).map(({ id }) => String(id));

function told(what: string, found: readonly string[], expected: readonly string[]): string[] {
  const { missing, extra } = differences(found, expected);
  const all = [...missing.map((one) => `${one} is missing`), ...extra.map((one) => `${one} is too much`)];
  return atMost(all.map((one) => `${what}: ${one}`));
}

const atMost = (all: readonly string[]): string[] =>
  all.length <= mostTold ? [...all] : [...all.slice(0, mostTold), `and ${all.length - mostTold} more of this kind`];

function lateProblems(shape: Shape, { good }: Records, late: readonly string[]): string[] {
  const possible = good.flatMap((record) =>
    windowsOf(shape, record)
      .filter((start) => mayBeLate(shape, record, start))
      .map((start) => pairName(record.id, start)),
  );
  // Whether it was depends on how the input was cut into epochs.
  return atMost(differences(late, possible).extra.map((one) => `late: ${one} is not late, or was told twice`));
}

function mayBeLate({ windowMs, allowedLatenessMs, outOfOrderMs }: Shape, record: Placed, start: number): boolean {
  return start + windowMs + allowedLatenessMs <= record.largestBefore - outOfOrderMs;
}

function windowsOf({ windowMs, everyMs }: Shape, { time }: InputRecord): number[] {
  const starts = [];
  for (let start = Math.floor(time / everyMs) * everyMs; start > time - windowMs; start -= everyMs) starts.push(start);
  return starts;
}

function expectedRows(shape: Shape, { good }: Records, late: ReadonlySet<string>): string[] {
  const windows = new Map<string, { key: string; windowStart: number; count: number; sum: number; last: number }>();
  for (const record of good)
    for (const windowStart of windowsOf(shape, record)) {
      if (late.has(pairName(record.id, windowStart))) continue;
      const { key, id } = record;
      const name = `${key} ${windowStart}`;
      const { count, sum, last } = windows.get(name) ?? { count: 0, sum: 0, last: -1 };
      windows.set(name, { key, windowStart, count: count + 1, sum: sum + id, last: Math.max(last, id) });
    }
  return [...windows.values()].map(textOf);
}

/** Of each window's rows the last, which takes the place of those before it. */
function lastRows(rows: readonly ResultRow[]): string[] {
  const last = new Map(rows.map((row) => [`${row.key} ${row.windowStart}`, row]));
  return [...last.values()].map(textOf);
}

function textOf({ key, windowStart, count, sum, last }: Omit<ResultRow, "windowEnd" | "version">): string {
  return JSON.stringify({ key, windowStart, count, sum, last });
}

/** Rows that were written twice, in another order, or by code that was gone. */
function orderProblems({ allowedLatenessMs }: Shape, rows: readonly ResultRow[]): string[] {
  const problems: string[] = [];
  const counts = new Map<string, number>();
  const before = new Map<string, ResultRow>();
  for (const row of rows) {
    const window = `${row.key} ${row.windowStart}`;
    const count = counts.get(window) ?? 0;
    if (count >= row.count) problems.push(`results: ${textOf(row)} comes after a count of ${count}`);
    if (count > 0 && allowedLatenessMs === 0) problems.push(`results: ${textOf(row)} is a second row of its window`);
    counts.set(window, row.count);
    const last = before.get(row.key);
    before.set(row.key, row);
    if (last === undefined) continue;
    if (last.version > row.version)
      problems.push(`results: ${textOf(row)} is of version ${row.version}, which was gone`);
    if (allowedLatenessMs === 0 && last.windowStart >= row.windowStart)
      problems.push(`results: ${textOf(row)} is not after its window before, ${last.windowStart}`);
  }
  return atMost(problems);
}
