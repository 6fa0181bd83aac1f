import type { ByteReader, ByteWriter } from "./bytes.ts";
import { NotDataError } from "./codec.ts";
import { type Column, decodeColumn, encodeColumn } from "./columns.ts";
import { hashKey } from "./key-codec.ts";
import type { KeyColumn } from "./key-table.ts";

/** Keys of one window of one operator, with their accumulators: a column for each aggregate. */
export interface Entries {
  readonly keys: KeyColumn;
  readonly columns: readonly Column[];
}

/**
 * Writes the entries `order[from, to)`: their number, key lengths, keys, the number of columns, then column after column.
 *
 * @throws NotDataError that says in which column
 */
export function encodeEntries(
  writer: ByteWriter,
  { keys, columns }: Entries,
  order: Int32Array,
  from: number,
  to: number,
): void {
  const { bytes, ends } = keys;
  writer.varint(to - from);
  for (let index = from; index < to; index++) writer.varint(ends[order[index]! + 1]! - ends[order[index]!]!);
  for (let index = from; index < to; index++) writer.raw(bytes, ends[order[index]!], ends[order[index]! + 1]);
  writer.varint(columns.length);
  for (const [at, column] of columns.entries()) {
    try {
      encodeColumn(writer, column, order, from, to);
    } catch (error) {
      throw error instanceof NotDataError ? new NotDataError(error.message, at) : error;
    }
  }
}

/** Reads what `encodeEntries` wrote. Keys stay where they are: the entries live no longer than the reader's bytes. @throws MalformedError */
export function decodeEntries(reader: ByteReader): Entries {
  const count = reader.count();
  const ends = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) ends[index + 1] = ends[index]! + reader.count();
  const start = reader.skip(ends[count]!);
  const bytes = reader.bytes.subarray(start, reader.at);
  const hashes = new Int32Array(count);
  for (let index = 0; index < count; index++) hashes[index] = hashKey(bytes, ends[index]!, ends[index + 1]!);
  const columns: Column[] = [];
  for (let left = reader.count(); left > 0; left--) columns.push(decodeColumn(reader, count));
  return { keys: { count, bytes, ends, hashes }, columns };
}
