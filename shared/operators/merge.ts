import type { Column, NamedAggregate } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import type { WindowState } from "../state/window-state.ts";
import { checkedAccumulator, copyAccumulator } from "./accumulators.ts";
import { plus } from "./aggregates.ts";
import type { Lifetime } from "./expiry.ts";

/** Entry number `index` of those being merged failed. Returns only if the rest shall be merged. */
export type FailEntry = (index: number, error: unknown) => void;

/**
 * Merges accumulators onto those of the window. The state takes them over: nobody else may use them afterwards.
 *
 * @param lifetime which keys begin anew, if any can
 */
export function mergeAll(
  window: WindowState,
  entries: Entries,
  aggregates: readonly NamedAggregate[],
  fail: FailEntry,
  lifetime?: Lifetime,
): void {
  const known = window.count;
  const numbers = lifetime === undefined ? window.touch(entries) : window.locate(entries);
  const replaced = lifetime?.replaced(window, numbers, known, entries);
  for (const [at, { aggregate }] of aggregates.entries()) {
    const own = window.columns[at]!;
    const other = entries.columns[at]!;
    if (aggregate.merge === plus && replaced === undefined && isNumbers(own) && isNumbers(other)) {
      addUp(own, other, numbers, known);
      continue;
    }
    let index = 0;
    try {
      for (; index < numbers.length; index++) {
        const number = numbers[index]!;
        const takes = replaced === undefined ? number >= known : replaced[index] === 1;
        own[number] = takes ? other[index] : checkedAccumulator(aggregate, aggregate.merge(own[number], other[index]));
      }
    } catch (error) {
      fail(index, error);
    }
  }
}

function isNumbers(column: Column): column is Float64Array {
  return column instanceof Float64Array;
}

function addUp(own: Float64Array, other: Float64Array, numbers: Int32Array, known: number): void {
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index]!;
    own[number] = number < known ? own[number]! + other[index]! : other[index]!;
  }
}

/** The same, but an entry that fails leaves the window's accumulators of its key as they were, and the rest is merged. */
export function mergeEach(
  window: WindowState,
  entries: Entries,
  aggregates: readonly NamedAggregate[],
  fail: FailEntry,
  lifetime?: Lifetime,
): void {
  const known = window.count;
  const numbers = window.locate(entries);
  const next = new Array<unknown>(aggregates.length);
  for (let index = 0, newest = known; index < numbers.length; index++) {
    const number = numbers[index]!;
    const isNew = number === newest; // new keys are numbered as they come; one may come again
    if (isNew) newest++;
    const takes = isNew || lifetime?.isReplaced(window, number, entries, index);
    window.mark(number);
    try {
      for (const [at, of] of aggregates.entries()) {
        const other = entries.columns[at]![index];
        if (takes) next[at] = other;
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
