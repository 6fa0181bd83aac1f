import { ByteReader } from "../state/bytes.ts";
import { decodeData } from "../state/codec.ts";
import type { Column, NamedAggregate } from "../state/columns.ts";
import { accumulatorBytes } from "./accumulators.ts";

interface Journal {
  /** Encoded accumulators, by column; absent: as `init` makes them. */
  base: readonly (Buffer | undefined)[];
  baseBytes: number;
  /** What was added since. */
  values: unknown[];
}

const fewestValues = 64;
const bytesPerValue = 16;

/**
 * Makes accumulators again that an `add` changed in place before it, or the next aggregate's, threw. Copying each one before each `add`
 * would cost as much as it is large; a journal of the values since the last copy costs a constant on average.
 */
export class Undo {
  readonly #aggregates: readonly NamedAggregate[];
  readonly #columns: readonly Column[];
  /** Columns of numbers need none of this: a number does not change in place. */
  readonly #mutable: readonly number[];
  readonly #journals: Journal[] = [];

  /** @param columns the table's own array, whose columns it may replace by larger ones */
  constructor(aggregates: readonly NamedAggregate[], columns: readonly Column[]) {
    this.#aggregates = aggregates;
    this.#columns = columns;
    this.#mutable = [...columns.keys()].filter((at) => Array.isArray(columns[at]));
  }

  /** There are accumulators that may change in place. */
  get isNeeded(): boolean {
    return this.#mutable.length > 0;
  }

  /** A value was added to all accumulators of a key. */
  added(number: number, value: unknown): void {
    if (!this.isNeeded) return;
    this.#journals[number] ??= { base: [], baseBytes: 0, values: [] };
    const journal = this.#journals[number];
    journal.values.push(value);
    if (journal.values.length < fewestValues || journal.values.length * bytesPerValue < journal.baseBytes) return;
    const base: Buffer[] = [];
    for (const at of this.#mutable) base[at] = accumulatorBytes(this.#aggregates[at]!, this.#columns[at]![number]);
    journal.base = base;
    journal.baseBytes = base.reduce((sum, bytes) => sum + bytes.length, 0);
    journal.values = [];
  }

  /** Makes the accumulators of a key what they were after the last `added`. */
  restore(number: number): void {
    for (const at of this.#mutable) {
      const { aggregate } = this.#aggregates[at]!;
      const { base, values } = this.#journals[number]!;
      const bytes = base[at];
      let accumulator = bytes === undefined ? aggregate.init() : decodeData(new ByteReader(bytes));
      for (const value of values) accumulator = aggregate.add(accumulator, value);
      this.#columns[at]![number] = accumulator;
    }
  }
}
