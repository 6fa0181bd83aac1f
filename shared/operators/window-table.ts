import { CellTable } from "../state/cell-table.ts";
import { type AnyAggregate, type Column, growColumns, type NamedAggregate, newColumns } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { checkAccumulators, checkedAccumulator, checkedNumber } from "./accumulators.ts";
import { zero } from "./aggregates.ts";
import { beginsAnew } from "./expiry.ts";
import { fieldFoldOf, kernelOf } from "./kernels.ts";
import type { Keys } from "./keys.ts";
import { Undo } from "./undo.ts";
import { settled } from "./user-function.ts";
import { Scratch, type Values } from "./values.ts";

/** Values, which may be made when they are asked for. */
type Folded = Pick<Values, "values" | "fields">;

/** What to do about value number `index` of those being added. Returns only if the rest shall be added. */
export type FailValue = (index: number, error: unknown) => void;

/**
 * Accumulators of one window of one operator, over the records of one sub-range: what a combiner makes before the shuffle. A key that begins anew (`expireAfter`)
 * gets another cell, and is there twice, in order.
 */
export class WindowTable {
  readonly #aggregates: readonly NamedAggregate[];
  readonly #cells = new CellTable();
  readonly #columns: Column[];
  /** Column of the latest event times, and how much later a value must be to begin its key anew; undefined if none ever does. */
  readonly #lifetime: { readonly latest: number; readonly expireAfterMs: number } | undefined;
  readonly #beginsWithZeros: boolean;
  readonly #scratch = new Scratch();
  #undo: Undo | undefined;

  /** @param expireAfterMs only where `aggregates` are those of a running aggregation */
  constructor(aggregates: readonly NamedAggregate[], expireAfterMs?: number) {
    this.#aggregates = aggregates;
    this.#lifetime = expireAfterMs === undefined ? undefined : { latest: aggregates.length - 2, expireAfterMs };
    this.#columns = newColumns(aggregates, this.#cells.capacity);
    this.#beginsWithZeros = aggregates.every(({ aggregate }) => aggregate.numeric === true && aggregate.init === zero);
  }

  /**
   * Adds values `[from, to)` under their keys. A failure ends it, and leaves a table that must not be used any more.
   *
   * @param times event time of each value, where an aggregate folds them
   */
  addAll(keys: Keys, input: Folded, from: number, to: number, fail: FailValue, times?: Float64Array): void {
    const cells = this.#scratch.reserve(to - from);
    if (this.#lifetime === undefined) this.#locateAll(keys, from, to, cells, fail);
    else this.#locateAlive(keys, from, to, cells, fail, times!);
    for (const [place, of] of this.#aggregates.entries()) {
      const column = this.#columns[place]!;
      const kernel = kernelOf(of.aggregate);
      if (column instanceof Float64Array) {
        if (kernel !== undefined) kernel(column, cells, to - from);
        else foldNumbers(foldOf(of, input, times), column, cells, from, to, fail);
      } else foldData(foldOf(of, input, times), column, cells, from, to, fail);
    }
  }

  /** The same, one value after the other: one that fails leaves all accumulators as they were, and the rest is added. */
  addEach(keys: Keys, input: Folded, from: number, to: number, fail: FailValue, times?: Float64Array): void {
    this.#undo ??= new Undo(this.#aggregates, this.#columns);
    const next = new Array<unknown>(this.#columns.length);
    const folds = this.#aggregates.map((of) => foldOf(of, input, times));
    for (let at = from; at < to; at++) {
      const key = keys.numbers[at]!;
      const known = this.#cells.find(key);
      const isNew = known < 0 || this.#beginsAnew(known, times, at);
      try {
        for (const [column, { aggregate }] of this.#aggregates.entries()) {
          const before = isNew ? aggregate.init() : this.#columns[column]![known];
          const { by, values } = folds[column]!;
          next[column] = checkedAccumulator(aggregate, by.add(before, values[at]));
        }
      } catch (error) {
        // It may have changed accumulators in place before it threw.
        if (!isNew) this.#undo.restore(known);
        fail(at, error);
        continue;
      }
      const cell = isNew ? this.#insert(key) : known;
      for (let column = 0; column < next.length; column++) this.#columns[column]![cell] = next[column];
      if (this.#undo.isNeeded) this.#undo.added(cell, input.values[at]);
    }
  }

  /**
   * What it came to; it is empty then, and can be used again.
   *
   * @param keys the dictionary of all keys that were added
   * @throws UserCodeError `accumulator-not-data`
   */
  finish(keys: KeyColumn): Entries {
    for (const [at, of] of this.#aggregates.entries()) {
      const column = this.#columns[at]!;
      // Also where nothing will be encoded: whether an accumulator passes must not depend on how many tasks there are (I6).
      if (!(column instanceof Float64Array)) checkAccumulators(of, column);
    }
    const { count } = this.#cells;
    const entries = {
      keys,
      numbers: this.#cells.keys.slice(0, count),
      columns: this.#columns.map((column) => column.slice(0, count)),
    };
    this.#clear();
    return entries;
  }

  #clear(): void {
    this.#cells.clear();
    for (const column of this.#columns) if (!(column instanceof Float64Array)) column.length = 0;
    this.#undo = undefined;
  }

  /** The cells of the keys `[from, to)`; those that are new have the accumulators of `init`. */
  #locateAll({ numbers }: Keys, from: number, to: number, cells: Int32Array, fail: FailValue): void {
    const known = this.#cells.count;
    this.#cells.locateAll(numbers, from, to, cells);
    growColumns(this.#columns, this.#cells.capacity);
    if (this.#beginsWithZeros) for (const column of this.#columns) column.fill(0, known, this.#cells.count);
    else this.#beginEach(known, (cell, error) => fail(from + cells.indexOf(cell), error));
  }

  #beginEach(from: number, fail: (cell: number, error: unknown) => void): void {
    let cell = from;
    try {
      for (; cell < this.#cells.count; cell++) this.#begin(cell);
    } catch (error) {
      fail(cell, error);
    }
  }

  /** The same where keys may begin anew: one after the other, since it depends on the latest time so far. */
  #locateAlive(
    { numbers }: Keys,
    from: number,
    to: number,
    cells: Int32Array,
    fail: FailValue,
    times: Float64Array,
  ): void {
    const { latest } = this.#lifetime!;
    let at = from;
    try {
      for (; at < to; at++) {
        const known = this.#cells.find(numbers[at]!);
        const isNew = known < 0 || this.#beginsAnew(known, times, at);
        const cell = isNew ? this.#insert(numbers[at]!) : known;
        if (isNew) this.#begin(cell);
        cells[at - from] = cell;
        // What column after column would come too late to tell the next value of the key.
        const column = this.#columns[latest]!;
        column[cell] = Math.max(column[cell] as number, times[at]!);
      }
    } catch (error) {
      fail(at, error); // `init` threw
    }
  }

  #beginsAnew(known: number, times: Float64Array | undefined, at: number): boolean {
    if (this.#lifetime === undefined) return false;
    const { latest, expireAfterMs } = this.#lifetime;
    return beginsAnew(this.#columns[latest]![known] as number, times![at]!, expireAfterMs);
  }

  #insert(key: number): number {
    const cell = this.#cells.add(key);
    growColumns(this.#columns, this.#cells.capacity);
    return cell;
  }

  #begin(cell: number): void {
    for (let at = 0; at < this.#aggregates.length; at++) {
      const { aggregate } = this.#aggregates[at]!;
      this.#columns[at]![cell] = checkedAccumulator(aggregate, aggregate.init());
    }
  }
}

/** Adds one of `values` after the other. */
interface Fold {
  readonly by: Pick<AnyAggregate, "add">;
  readonly values: readonly unknown[] | Float64Array;
}

/** What an aggregate adds: event times, fields where the input has them without its values, or the values. */
function foldOf({ aggregate, folds }: NamedAggregate, input: Folded, times: Float64Array | undefined): Fold {
  if (folds === "times") return { by: aggregate, values: times! };
  const field = input.fields && fieldFoldOf(aggregate);
  if (field !== undefined) return { by: field, values: input.fields!.column(field.pointer) };
  // A kernel looks at no value.
  return { by: aggregate, values: kernelOf(aggregate) === undefined ? input.values : [] };
}

function foldNumbers(
  { by, values }: Fold,
  column: Float64Array,
  cells: Int32Array,
  from: number,
  to: number,
  fail: FailValue,
): void {
  let at = from;
  try {
    for (; at < to; at++) {
      const cell = cells[at - from]!;
      column[cell] = checkedNumber(by.add(column[cell]!, values[at]));
    }
  } catch (error) {
    fail(at, error);
  }
}

function foldData(
  { by, values }: Fold,
  column: unknown[],
  cells: Int32Array,
  from: number,
  to: number,
  fail: FailValue,
): void {
  let at = from;
  try {
    for (; at < to; at++) {
      const cell = cells[at - from]!;
      column[cell] = settled(by.add(column[cell], values[at]));
    }
  } catch (error) {
    fail(at, error);
  }
}
