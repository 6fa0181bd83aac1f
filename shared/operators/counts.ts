import type { Counts } from "../epoch/epoch.ts";
import type { RefusedRow, TimeOfRow } from "../ports/sink.ts";

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
export function counting<Rows extends { readonly length: number }>(
  counts: Record<string, number>,
  write: (sink: string, rows: Rows, timeOf: TimeOfRow, refused?: RefusedRow) => void,
): typeof write {
  return (sink, rows, timeOf, refused) => {
    addTo(counts, sink, rows.length);
    write(
      sink,
      rows,
      timeOf,
      refused &&
        ((index, error) => {
          addTo(counts, sink, -1);
          refused(index, error);
        }),
    );
  };
}

/** An id like "constructor" would find what every object inherits. */
export function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (Object.hasOwn(counts, name) ? counts[name]! : 0) + count;
}
