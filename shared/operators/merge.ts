import type { NamedAggregate } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import type { WindowState } from "../state/window-state.ts";
import { checkedAccumulator, copyAccumulator } from "./accumulators.ts";

/** Entry number `index` of those being merged failed. Returns only if the rest shall be merged. */
export type FailEntry = (index: number, error: unknown) => void;

/** Merges accumulators onto those of the window. The state takes them over: nobody else may use them afterwards. */
export function mergeAll(
  window: WindowState,
  { keys, columns }: Entries,
  aggregates: readonly NamedAggregate[],
  fail: FailEntry,
): void {
  const known = window.keys.count;
  const numbers = window.touch(keys);
  for (const [at, { aggregate }] of aggregates.entries()) {
    const own = window.columns[at]!;
    const other = columns[at]!;
    let index = 0;
    try {
      for (; index < numbers.length; index++) {
        const number = numbers[index]!;
        own[number] =
          number < known ? checkedAccumulator(aggregate, aggregate.merge(own[number], other[index])) : other[index];
      }
    } catch (error) {
      fail(index, error);
    }
  }
}

/** The same, but an entry that fails leaves the window's accumulators of its key as they were, and the rest is merged. */
export function mergeEach(
  window: WindowState,
  { keys, columns }: Entries,
  aggregates: readonly NamedAggregate[],
  fail: FailEntry,
): void {
  const known = window.keys.count;
  const numbers = window.touch(keys);
  const next = new Array<unknown>(columns.length);
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    try {
      for (const [at, of] of aggregates.entries()) {
        const other = columns[at]![index];
        if (number >= known) next[at] = other;
        else {
          const own = copyAccumulator(of, window.columns[at]![number]);
          next[at] = checkedAccumulator(of.aggregate, of.aggregate.merge(own, other));
        }
      }
    } catch (error) {
      fail(index, error);
      continue;
    }
    for (const [at, accumulator] of next.entries()) window.columns[at]![number] = accumulator;
  }
}
