import type { Key } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { type AnyAggregate, type Column, growColumns, type NamedAggregate, newColumns } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import { encodeKey, hashKey } from "../state/key-codec.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { checkAccumulators, checkedAccumulator, checkedNumber } from "./accumulators.ts";
import { beginsAnew } from "./expiry.ts";
import { KeyIndex } from "./key-index.ts";
import { Undo } from "./undo.ts";
import { settled } from "./user-function.ts";

/** What to do about value number `index` of those being added. Returns only if the rest shall be added. */
export type FailValue = (index: number, error: unknown) => void;

const initialCapacity = 64;

/**
 * Accumulators of one window of one operator, over the records of one sub-range: what a combiner makes before the shuffle. A key that begins anew (`expireAfter`)
 * gets another number, and is there twice, in order.
 */
export class WindowTable {
  readonly #aggregates: readonly NamedAggregate[];
  readonly #index = new KeyIndex();
  readonly #columns: Column[];
  /** Column of the latest event times, and how much later a value must be to begin its key anew; undefined if none ever does. */
  readonly #lifetime: { readonly latest: number; readonly expireAfterMs: number } | undefined;
  #capacity = initialCapacity;
  #numbers = new Int32Array(0);
  #undo: Undo | undefined;

  /** @param expireAfterMs only where `aggregates` are those of a running aggregation */
  constructor(aggregates: readonly NamedAggregate[], expireAfterMs?: number) {
    this.#aggregates = aggregates;
    this.#lifetime = expireAfterMs === undefined ? undefined : { latest: aggregates.length - 2, expireAfterMs };
    this.#columns = newColumns(aggregates, initialCapacity);
  }

  /**
   * Adds values `[from, to)` under their keys. A failure ends it, and leaves a table that must not be used any more.
   *
   * @param times event time of each value, where an aggregate folds them
   */
  addAll(
    keys: readonly unknown[],
    values: readonly unknown[],
    from: number,
    to: number,
    fail: FailValue,
    times?: Float64Array,
  ): void {
    if (this.#numbers.length < to - from) this.#numbers = new Int32Array(to - from);
    const numbers = this.#numbers;
    let at = from;
    try {
      for (; at < to; at++) {
        const key = keys[at] as Key;
        numbers[at - from] = this.#find(key, times, at) ?? this.#insert(key);
        if (this.#lifetime !== undefined) this.#see(numbers[at - from]!, times![at]!);
      }
    } catch (error) {
      fail(at, error); // `init` threw
    }
    for (const [place, { aggregate, folds }] of this.#aggregates.entries()) {
      const column = this.#columns[place]!;
      const folded = folds === "times" ? times! : values;
      if (column instanceof Float64Array) foldNumbers(aggregate, column, numbers, folded, from, to, fail);
      else foldData(aggregate, column, numbers, values, from, to, fail); // times are numbers
    }
  }

  /** The same, one value after the other: one that fails leaves all accumulators as they were, and the rest is added. */
  addEach(
    keys: readonly unknown[],
    values: readonly unknown[],
    from: number,
    to: number,
    fail: FailValue,
    times?: Float64Array,
  ): void {
    this.#undo ??= new Undo(this.#aggregates, this.#columns);
    const next = new Array<unknown>(this.#columns.length);
    for (let at = from; at < to; at++) {
      const key = keys[at] as Key;
      const known = this.#find(key, times, at);
      try {
        for (const [column, { aggregate, folds }] of this.#aggregates.entries()) {
          const before = known === undefined ? aggregate.init() : this.#columns[column]![known];
          const value = folds === "times" ? times![at] : values[at];
          next[column] = checkedAccumulator(aggregate, aggregate.add(before, value));
        }
      } catch (error) {
        // It may have changed accumulators in place before it threw.
        if (known !== undefined) this.#undo.restore(known);
        fail(at, error);
        continue;
      }
      const number = known ?? this.#insert(key);
      for (let column = 0; column < next.length; column++) this.#columns[column]![number] = next[column];
      this.#undo.added(number, values[at]);
    }
  }

  /** All keys, encoded, with their accumulators. The table is not used again. @throws UserCodeError `accumulator-not-data` */
  finish(): Entries {
    for (const [at, of] of this.#aggregates.entries()) {
      const column = this.#columns[at]!;
      // Also where nothing will be encoded: whether an accumulator passes must not depend on how many tasks there are (I6).
      if (!(column instanceof Float64Array)) checkAccumulators(of, column);
    }
    return { keys: encodeKeys(this.#index.keys), columns: this.#columns };
  }

  /** The number under which value `at` counts; undefined if it is the first of its key, or begins it anew. */
  #find(key: Key, times: Float64Array | undefined, at: number): number | undefined {
    const known = this.#index.find(key);
    if (this.#lifetime === undefined || known === undefined) return known;
    const { latest, expireAfterMs } = this.#lifetime;
    const isOver = beginsAnew(this.#columns[latest]![known] as number, times![at]!, expireAfterMs);
    return isOver ? undefined : known;
  }

  /** What column after column would come too late to tell the next value of the key. */
  #see(number: number, time: number): void {
    const column = this.#columns[this.#lifetime!.latest]!;
    column[number] = Math.max(column[number] as number, time);
  }

  #insert(key: Key): number {
    const number = this.#index.add(key);
    if (number === this.#capacity) {
      this.#capacity *= 2;
      growColumns(this.#columns, this.#capacity);
    }
    for (const [at, { aggregate }] of this.#aggregates.entries()) {
      this.#columns[at]![number] = checkedAccumulator(aggregate, aggregate.init());
    }
    return number;
  }
}

function foldNumbers(
  aggregate: AnyAggregate,
  column: Float64Array,
  numbers: Int32Array,
  values: readonly unknown[] | Float64Array,
  from: number,
  to: number,
  fail: FailValue,
): void {
  let at = from;
  try {
    for (; at < to; at++) {
      const number = numbers[at - from]!;
      column[number] = checkedNumber(aggregate.add(column[number]!, values[at]));
    }
  } catch (error) {
    fail(at, error);
  }
}

function foldData(
  aggregate: AnyAggregate,
  column: unknown[],
  numbers: Int32Array,
  values: readonly unknown[],
  from: number,
  to: number,
  fail: FailValue,
): void {
  let at = from;
  try {
    for (; at < to; at++) {
      const number = numbers[at - from]!;
      column[number] = settled(aggregate.add(column[number], values[at]));
    }
  } catch (error) {
    fail(at, error);
  }
}

function encodeKeys(keys: readonly Key[]): KeyColumn {
  const count = keys.length;
  const writer = new ByteWriter(count * 12 + 64);
  const ends = new Int32Array(count + 1);
  const hashes = new Int32Array(count);
  for (let number = 0; number < count; number++) {
    const start = writer.length;
    encodeKey(writer, keys[number]!);
    ends[number + 1] = writer.length;
    hashes[number] = hashKey(writer.bytes, start, writer.length);
  }
  return { count, bytes: writer.view(), ends, hashes };
}
