import type { Counts } from "../epoch/epoch.ts";

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
    // A row for each sink from the start: an id like "constructor" would else find what every object inherits.
    rows: Object.fromEntries(sinks.map((sink) => [sink, 0])),
  };
}
