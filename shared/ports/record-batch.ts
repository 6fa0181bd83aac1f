import type { RecordBatch } from "./source.ts";

/** A record as a source has it. Texts are UTF-8. */
export interface SourceRecord {
  readonly offset: number;
  /** Null: there is none, as in a tombstone of Kafka. */
  readonly value: string | Uint8Array | null;
  readonly key?: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, string | Uint8Array>>;
  /** Event time in epoch milliseconds, where the source knows one: for all records of a batch, or for none; one that lacks it follows `onError`. */
  readonly timestamp?: number;
}

/**
 * Records as the columns of a batch: for sources that have them one by one, and need not be as fast as possible.
 *
 * @param records in the order of their offsets
 * @param next everything below this offset has been delivered, gaps included
 */
export function recordBatch(records: readonly SourceRecord[], next: number): RecordBatch {
  const column = () => new Int32Array(records.length);
  const [valueStart, valueEnd, keyStart, keyEnd] = [column(), column(), column(), column()];
  const pieces: Buffer[] = [];
  let length = 0;
  const append = (bytes: string | Uint8Array | null | undefined, starts: Int32Array, ends: Int32Array, row: number) => {
    const piece = Buffer.from(bytes ?? "");
    starts[row] = bytes === null || bytes === undefined ? -1 : length;
    length += piece.length;
    ends[row] = length;
    pieces.push(piece);
  };
  for (const [row, { value, key }] of records.entries()) {
    append(value, valueStart, valueEnd, row);
    append(key, keyStart, keyEnd, row);
  }
  const isTimed = records.some(({ timestamp }) => timestamp !== undefined);
  return {
    bytes: Buffer.concat(pieces),
    count: records.length,
    ...{ valueStart, valueEnd, keyStart, keyEnd },
    offsets: Float64Array.from(records, ({ offset }) => offset),
    ...(isTimed && { timestamps: Float64Array.from(records, ({ timestamp }) => timestamp ?? Number.NaN) }),
    headers: (row) => Object.entries(records[row]?.headers ?? {}).map(([name, value]) => [name, Buffer.from(value)]),
    next,
  };
}
