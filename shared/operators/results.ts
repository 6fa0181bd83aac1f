import { decodeKey } from "../state/key-codec.ts";
import type { OperatorState } from "../state/stage-state.ts";
import { copyAccumulator } from "./accumulators.ts";
import type { FiringWindow } from "./firing.ts";
import type { DerivedRow } from "./origin.ts";
import { settled } from "./user-function.ts";

/**
 * Appends a row for each of the keys `order[from, to)` of a firing window: `{ key, windowStart, windowEnd, …results by name }`.
 *
 * @param fail what to do about the key with this number; returns only if the rest shall be made
 */
export function appendRows(
  rows: DerivedRow[],
  { aggregates }: OperatorState,
  { start, end, window, keys, stays }: FiringWindow,
  from: number,
  to: number,
  fail: (number: number, error: unknown) => void,
): void {
  const { bytes, ends } = window.keys;
  for (let index = from; index < to; ) {
    let number = 0;
    try {
      for (; index < to; index++) {
        number = keys.order[index]!;
        const row: Record<string, unknown> = {
          key: decodeKey(bytes, ends[number]!, ends[number + 1]!),
          windowStart: start,
          windowEnd: end,
        };
        for (let at = 0; at < aggregates.length; at++) {
          const of = aggregates[at]!;
          const accumulator = window.columns[at]![number];
          // What comes of a result may be changed downstream: state that stays must not share it.
          row[of.name] = settled(of.aggregate.result(stays ? copyAccumulator(of, accumulator) : accumulator));
        }
        rows.push(row as unknown as DerivedRow);
      }
    } catch (error) {
      fail(number, error);
      index++;
    }
  }
}
