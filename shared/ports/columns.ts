/** Texts as UTF-8: text i is `bytes[ends[i], ends[i + 1])`. */
export interface TextColumn {
  readonly bytes: Buffer;
  readonly ends: Int32Array;
}

/** A field of many rows. Texts are well-formed, and numbers are all there is in a column of them; values are anything. It may be longer than there are rows. */
export type RowColumn = TextColumn | Float64Array | readonly unknown[];

/** Rows as columns, good only during the call that they are given to. */
export interface ColumnRows<T = unknown> {
  readonly length: number;
  /** In the order of the fields of each row. A field whose value is `undefined` counts as one that the row does not have. */
  readonly fields: readonly RowField[];
  /** Event time of each row, epoch milliseconds; of an aggregate's row, the last millisecond of its window. Like the columns it may be longer. */
  readonly times: Float64Array;
  /** The same rows as objects, made at the first call. */
  rows(): T[];
}

/** Rows that are texts, still as UTF-8: row i is `bytes[starts[i], ends[i])`, well-formed. Good only during the call that they are given to, as are the columns, which may be longer. */
export interface TextRows {
  readonly length: number;
  readonly bytes: Buffer;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Event times, epoch milliseconds. */
  readonly times: Float64Array;
  /** The same rows as strings; the array is the caller's. */
  rows(): string[];
}

export interface RowField {
  readonly name: string;
  readonly column: RowColumn;
}
