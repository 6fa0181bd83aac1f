import type { Counts } from "../epoch/epoch.ts";
import type { RefusedRow } from "../ports/sink.ts";
import type { WriteForm, WriteRows } from "./environment.ts";

export type MutableCounts = { -readonly [Name in keyof Omit<Counts, "rows">]: number } & {
  rows: Record<string, number>;
};

export function newCounts(sinks: readonly string[]): MutableCounts {
  return {
    records: 0,
    bytes: 0,
    skipped: 0,
    deadLettered: 0,
    late: 0,
    rows: Object.fromEntries(sinks.map((sink) => [sink, 0])),
  };
}

/** Counts the rows that a sink takes: all but those that it refuses. */
export function counting(counts: Record<string, number>, write: WriteRows): WriteRows {
  return (sink, rows, timeOf, refused) => {
    addTo(counts, sink, rows.length);
    write(sink, rows, timeOf, refused && uncounting(counts, sink, refused));
  };
}

/** The same of rows in another form. */
export function countingForm<Rows extends { readonly length: number }>(
  counts: Record<string, number>,
  write: WriteForm<Rows>,
): WriteForm<Rows> {
  return (sink, rows, refused) => {
    addTo(counts, sink, rows.length);
    write(sink, rows, refused && uncounting(counts, sink, refused));
  };
}

function uncounting(counts: Record<string, number>, sink: string, refused: RefusedRow): RefusedRow {
  return (index, error) => {
    addTo(counts, sink, -1);
    refused(index, error);
  };
}

/** An id like "constructor" would find what every object inherits. */
export function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (Object.hasOwn(counts, name) ? counts[name]! : 0) + count;
}
