import type { Key } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { type AnyAggregate, type Column, growColumns, type NamedAggregate, newColumns } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import { encodeKey, hashKey } from "../state/key-codec.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { checkAccumulators, checkedAccumulator, checkedNumber } from "./accumulators.ts";
import { KeyIndex } from "./key-index.ts";
import { Undo } from "./undo.ts";
import { settled } from "./user-function.ts";

/** What to do about value number `index` of those being added. Returns only if the rest shall be added. */
export type FailValue = (index: number, error: unknown) => void;

const initialCapacity = 64;

/** Accumulators of one window of one operator, over the records of one sub-range: what a combiner makes before the shuffle. */
export class WindowTable {
  readonly #aggregates: readonly NamedAggregate[];
  readonly #index = new KeyIndex();
  readonly #columns: Column[];
  #capacity = initialCapacity;
  #numbers = new Int32Array(0);
  #undo: Undo | undefined;

  constructor(aggregates: readonly NamedAggregate[]) {
    this.#aggregates = aggregates;
    this.#columns = newColumns(aggregates, initialCapacity);
  }

  /** Adds values `[from, to)` under their keys. A failure ends it, and leaves a table that must not be used any more. */
  addAll(keys: readonly unknown[], values: readonly unknown[], from: number, to: number, fail: FailValue): void {
    if (this.#numbers.length < to - from) this.#numbers = new Int32Array(to - from);
    const numbers = this.#numbers;
    let at = from;
    try {
      for (; at < to; at++) {
        const key = keys[at] as Key;
        numbers[at - from] = this.#index.find(key) ?? this.#insert(key);
      }
    } catch (error) {
      fail(at, error); // `init` threw
    }
    for (const [place, { aggregate }] of this.#aggregates.entries()) {
      const column = this.#columns[place]!;
      if (column instanceof Float64Array) foldNumbers(aggregate, column, numbers, values, from, to, fail);
      else foldData(aggregate, column, numbers, values, from, to, fail);
    }
  }

  /** The same, one value after the other: one that fails leaves all accumulators as they were, and the rest is added. */
  addEach(keys: readonly unknown[], values: readonly unknown[], from: number, to: number, fail: FailValue): void {
    this.#undo ??= new Undo(this.#aggregates, this.#columns);
    const next = new Array<unknown>(this.#columns.length);
    for (let at = from; at < to; at++) {
      const key = keys[at] as Key;
      const known = this.#index.find(key);
      try {
        for (const [column, { aggregate }] of this.#aggregates.entries()) {
          const before = known === undefined ? aggregate.init() : this.#columns[column]![known];
          next[column] = checkedAccumulator(aggregate, aggregate.add(before, values[at]));
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
  values: readonly unknown[],
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
