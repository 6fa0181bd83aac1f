import type { StatefulNode } from "../pipeline/topology.ts";
import type { ColumnRows, RowField } from "../ports/columns.ts";
import type { Column, NamedAggregate } from "../state/columns.ts";
import type { OperatorState } from "../state/stage-state.ts";
import { copyAccumulator } from "./accumulators.ts";
import { itself } from "./aggregates.ts";
import { fieldOrder, setField, valuesOf } from "./column-rows.ts";
import type { FiringWindow } from "./firing.ts";
import type { DerivedRow } from "./origin.ts";
import { ResultKeys } from "./result-keys.ts";
import { settled } from "./user-function.ts";

/** Rows that go through the chain at a time. */
const batchRows = 4096;

/** Names of the fields of an aggregation's rows. */
export function fieldNamesOf(node: StatefulNode): string[] {
  return ["key", ...(node.kind === "window" ? ["windowStart", "windowEnd"] : []), ...Object.keys(node.aggregates)];
}

/** What to do about the key with this number. Returns only if the rest shall be made. */
export type FailKey = (number: number, error: unknown) => void;

/**
 * Rows that an aggregation makes, as columns: `{ key, windowStart, windowEnd, …results by name }`, whose event time is the last millisecond of the window; without
 * windows `{ key, …results by name }`, at the latest event time of the key. The same columns for one batch after the other.
 */
export class Results implements ColumnRows<DerivedRow> {
  length = 0;
  readonly times = new Float64Array(batchRows);
  /** Key group of each row. */
  readonly groups = new Int32Array(batchRows);
  readonly #aggregates: readonly NamedAggregate[];
  readonly #names: readonly string[];
  /** Column of the latest event times, where there are no windows. */
  readonly #latest: number | undefined;
  readonly #keys = new ResultKeys(batchRows);
  readonly #starts = new Float64Array(batchRows);
  readonly #ends = new Float64Array(batchRows);
  readonly #results: readonly Column[];
  /** Nobody need be called for any result. */
  readonly #areAccumulators: boolean;
  #rows: DerivedRow[] | undefined;

  constructor({ node, aggregates }: OperatorState) {
    this.#aggregates = aggregates.filter(({ folds }) => folds === "values");
    this.#names = fieldNamesOf(node);
    this.#latest = node.kind === "window" ? undefined : aggregates.length - 1;
    this.#results = this.#aggregates.map((of) => (isNumber(of) ? new Float64Array(batchRows) : new Array(batchRows)));
    this.#areAccumulators = this.#aggregates.every(isNumber);
  }

  /** How many more rows fit in. */
  get room(): number {
    return batchRows - this.length;
  }

  get fields(): readonly RowField[] {
    const own = [
      this.#keys.column,
      ...(this.#latest === undefined ? [this.#starts, this.#ends] : []),
      ...this.#results,
    ];
    return fieldOrder(own.map((column, at) => ({ name: this.#names[at]!, column })));
  }

  rows(): DerivedRow[] {
    this.#rows ??= this.#makeRows();
    return this.#rows;
  }

  /** The next batch begins. */
  clear(): void {
    this.length = 0;
    this.#keys.clear();
    this.#rows = undefined;
  }

  /** Adds a row for each of the keys `[from, to)` of a firing window, all of one key group. */
  append(due: FiringWindow, group: number, from: number, to: number, fail: FailKey): void {
    const begun = this.length;
    if (this.#areAccumulators) this.#appendAccumulators(due, from, to);
    else this.#appendResults(due, from, to, fail);
    this.groups.fill(group, begun, this.length);
    if (due.start === undefined || due.end === undefined) return;
    this.times.fill(due.end - 1, begun, this.length);
    this.#starts.fill(due.start, begun, this.length);
    this.#ends.fill(due.end, begun, this.length);
  }

  #appendAccumulators({ bytes, ends, columns }: FiringWindow, from: number, to: number): void {
    this.#keys.addAll(bytes, ends, from, to);
    for (let at = 0; at < this.#results.length; at++)
      copyNumbers(this.#results[at]!, this.length, columns[at]!, from, to);
    if (this.#latest !== undefined) copyNumbers(this.times, this.length, columns[this.#latest]!, from, to);
    this.length += to - from;
  }

  #appendResults(due: FiringWindow, from: number, to: number, fail: FailKey): void {
    for (let index = from; index < to; ) {
      try {
        for (; index < to; index++) {
          this.#setResults(due, index);
          this.#keys.add(due.bytes, due.ends[index]!, due.ends[index + 1]!);
          if (this.#latest !== undefined) this.times[this.length] = due.columns[this.#latest]![index] as number;
          this.length++;
        }
      } catch (error) {
        fail(due.keys.order[index++]!, error);
      }
    }
  }

  #setResults({ columns, stays }: FiringWindow, index: number): void {
    for (let at = 0; at < this.#aggregates.length; at++) {
      const of = this.#aggregates[at]!;
      const accumulator = columns[at]![index];
      // What comes of a result may be changed downstream: state that stays must not share it.
      const own = stays ? copyAccumulator(of, accumulator) : accumulator;
      this.#results[at]![this.length] = settled(of.aggregate.result(own));
    }
  }

  #makeRows(): DerivedRow[] {
    const count = this.length;
    const keys = valuesOf(this.#keys.column, count);
    const rows = new Array<DerivedRow>(count);
    if (this.#latest !== undefined) for (let row = 0; row < count; row++) rows[row] = { key: keys[row] };
    else
      for (let row = 0; row < count; row++)
        rows[row] = { key: keys[row], windowStart: this.#starts[row]!, windowEnd: this.#ends[row]! };
    for (const [at, { name }] of this.#aggregates.entries()) setField(rows, name, this.#results[at]!, count);
    return rows;
  }
}

/** Whether it has plain numbers for accumulators, which are its results. */
function isNumber({ aggregate }: NamedAggregate): boolean {
  return aggregate.numeric === true && aggregate.result === itself;
}

function copyNumbers(to: Column, at: number, column: Column, from: number, end: number): void {
  for (let index = from, place = at; index < end; ) to[place++] = column[index++];
}
