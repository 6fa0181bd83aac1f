import { decodeKey } from "../state/key-codec.ts";
import type { OperatorState } from "../state/stage-state.ts";
import { copyAccumulator } from "./accumulators.ts";
import type { FiringWindow } from "./firing.ts";
import type { DerivedRow } from "./origin.ts";
import { settled } from "./user-function.ts";

/** Rows that an aggregation made, with the event time of each, epoch milliseconds. */
export interface TimedRows {
  readonly rows: DerivedRow[];
  readonly times: number[];
}

/**
 * Appends a row for each of the keys `order[from, to)` of a firing window: `{ key, windowStart, windowEnd, …results by name }`, whose event time is the last
 * millisecond of the window; without windows `{ key, …results by name }`, at the latest event time of the key.
 *
 * @param fail what to do about the key with this number; returns only if the rest shall be made
 */
export function appendRows(
  { rows, times }: TimedRows,
  { aggregates }: OperatorState,
  { start, end, window, keys, stays }: FiringWindow,
  from: number,
  to: number,
  fail: (number: number, error: unknown) => void,
): void {
  const { bytes, ends } = window.keys;
  const own = aggregates.filter(({ folds }) => folds === "values");
  const latest = window.columns[aggregates.length - 1]!;
  for (let index = from; index < to; ) {
    let number = 0;
    try {
      for (; index < to; index++) {
        number = keys.order[index]!;
        const key = decodeKey(bytes, ends[number]!, ends[number + 1]!);
        const row: Record<string, unknown> = end === undefined ? { key } : { key, windowStart: start, windowEnd: end };
        for (let at = 0; at < own.length; at++) {
          const of = own[at]!;
          const accumulator = window.columns[at]![number];
          // What comes of a result may be changed downstream: state that stays must not share it.
          row[of.name] = settled(of.aggregate.result(stays ? copyAccumulator(of, accumulator) : accumulator));
        }
        rows.push(row as unknown as DerivedRow);
        times.push(end === undefined ? (latest[number] as number) : end - 1);
      }
    } catch (error) {
      fail(number, error);
      index++;
    }
  }
}
