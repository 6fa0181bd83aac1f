import { decodeText } from "../pipeline/decoders/text.ts";
import type { Origin } from "./origin.ts";

/** Values between two operators: value i came from row `rows[i]` of `origin`. `rows` may be longer, and is reused for the next batch. */
export interface Values {
  readonly origin: Origin;
  readonly values: unknown[];
  readonly rows: Int32Array;
  /** Parts of the values, where there is no need to make the values for them. */
  readonly fields?: Fields | undefined;
}

export interface Fields {
  /** What a JSON pointer leads to in each value. Only pointers that the pipeline asks of these values are possible. */
  column(pointer: string): readonly unknown[] | Float64Array;
}

/**
 * Values that are texts, still as bytes: text i is `bytes[starts[i], ends[i])`, valid UTF-8. The columns may be longer, and are reused for the next batch,
 * as are the bytes. Who asks for values gets strings, which are made once.
 */
export class Texts implements Values {
  readonly origin: Origin;
  readonly rows: Int32Array;
  readonly count: number;
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  #values: string[] | undefined;

  constructor(
    origin: Origin,
    bytes: Buffer,
    { count, rows, starts, ends }: Pick<Texts, "count" | "rows" | "starts" | "ends">,
  ) {
    this.origin = origin;
    this.bytes = bytes;
    this.count = count;
    this.rows = rows;
    this.starts = starts;
    this.ends = ends;
  }

  get values(): string[] {
    this.#values ??= Array.from({ length: this.count }, (_, index) =>
      decodeText(this.bytes, this.starts[index]!, this.ends[index]!),
    );
    return this.#values;
  }
}

/** Values without some of them. */
export class Remaining implements Values {
  readonly origin: Origin;
  readonly rows: Int32Array;
  readonly #of: Values;
  readonly #indexes: readonly number[];
  #values: unknown[] | undefined;

  constructor(of: Values, count: number, without: readonly number[]) {
    const left = new Set(without);
    this.#of = of;
    this.#indexes = Array.from({ length: count }, (_, index) => index).filter((index) => !left.has(index));
    this.origin = of.origin;
    this.rows = Int32Array.from(this.#indexes, (index) => of.rows[index]!);
  }

  get values(): unknown[] {
    if (this.#values === undefined) {
      const { values } = this.#of;
      this.#values = this.#indexes.map((index) => values[index]);
    }
    return this.#values;
  }

  get fields(): Fields | undefined {
    const { fields } = this.#of;
    if (fields === undefined) return undefined;
    return {
      column: (pointer) => {
        const column = fields.column(pointer);
        return this.#indexes.map((index) => column[index]);
      },
    };
  }
}

/** Numbers that each batch needs anew, in one array for all batches. */
export class Scratch {
  numbers = new Int32Array(256);

  reserve(count: number): Int32Array {
    if (this.numbers.length < count) {
      const larger = new Int32Array(Math.max(count, this.numbers.length * 2));
      larger.set(this.numbers);
      this.numbers = larger;
    }
    return this.numbers;
  }
}
