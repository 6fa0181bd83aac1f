import type { ByteReader, ByteWriter } from "./bytes.ts";
import { NotDataError } from "./codec.ts";
import { type Column, decodeColumn, encodeColumn } from "./columns.ts";
import { hashKey } from "./key-codec.ts";
import type { KeyColumn, KeyTable } from "./key-table.ts";

/** Keys of one window of one operator, with their accumulators: a column for each aggregate. */
export interface Entries {
  readonly keys: KeyColumn;
  /** Which of the keys each entry has, where several windows share them; else entry i has key i. */
  readonly numbers?: Int32Array | undefined;
  readonly columns: readonly Column[];
}

export const countOf = ({ keys, numbers }: Pick<Entries, "keys" | "numbers">): number => numbers?.length ?? keys.count;

/** The numbers of these entries' keys in a table, into which those that are new are inserted, in order. */
export function locateIn(table: KeyTable, entries: Pick<Entries, "keys" | "numbers">): Int32Array {
  const { bytes, ends, hashes } = entries.keys;
  const located = new Int32Array(countOf(entries));
  table.reserve(located.length);
  const inPlace = { hashes, bytes, starts: ends, ends: ends.subarray(1) };
  table.locateAll(inPlace, 0, located.length, located, entries.numbers);
  return located;
}

/** Number of an entry's key. */
export const keyOf = ({ numbers }: Entries, index: number): number => (numbers === undefined ? index : numbers[index]!);

/**
 * Writes the entries `order[from, to)`: their number, key lengths, keys, the number of columns, then column after column.
 *
 * @throws NotDataError that says in which column
 */
export function encodeEntries(
  writer: ByteWriter,
  { keys, numbers, columns }: Entries,
  order: Int32Array,
  from: number,
  to: number,
): void {
  if (numbers === undefined) encodeKeys(writer, keys, order, from, to);
  else encodeKeys(writer, keys, keysOf({ numbers }, order.subarray(from, to)), 0, to - from);
  writer.varint(columns.length);
  for (const [at, column] of columns.entries()) {
    try {
      encodeColumn(writer, column, order, from, to);
    } catch (error) {
      throw error instanceof NotDataError ? new NotDataError(error.message, at) : error;
    }
  }
}

/** The numbers of these entries' keys. */
export function keysOf({ numbers }: Pick<Entries, "numbers">, entries: Int32Array): Int32Array {
  return numbers === undefined ? entries : gathered(numbers, entries);
}

/** Those of the numbers that are at these places. */
export function gathered(numbers: Int32Array, places: Int32Array): Int32Array {
  const found = new Int32Array(places.length);
  for (let index = 0; index < found.length; index++) found[index] = numbers[places[index]!]!;
  return found;
}

/** Keys lie anywhere in a large table: so what is known of one is read once, in loops so short that the processor waits for many at a time. */
function encodeKeys(writer: ByteWriter, { bytes, ends }: KeyColumn, order: Int32Array, from: number, to: number): void {
  const count = to - from;
  const sizes = new Int32Array(count);
  const starts = new Int32Array(count);
  let total = 0;
  for (let index = 0; index < count; index++) {
    const number = order[from + index]!;
    const start = ends[number]!;
    const size = ends[number + 1]! - start;
    starts[index] = start;
    sizes[index] = size;
    total += size;
  }
  writer.varint(count);
  writer.varints(sizes);
  writer.reserve(total);
  const target = writer.bytes;
  let at = writer.length;
  writer.length += total;
  for (let index = 0; index < count; index++) {
    let other = starts[index]!;
    const end = other + sizes[index]!;
    if (sizes[index]! > 32) {
      target.set(bytes.subarray(other, end), at);
      at += sizes[index]!;
    } else while (other < end) target[at++] = bytes[other++]!;
  }
}

/** Reads what `encodeEntries` wrote. Keys stay where they are: the entries live no longer than the reader's bytes. @throws MalformedError */
export function decodeEntries(reader: ByteReader): Entries {
  const count = reader.count();
  const ends = reader.ends(count);
  const start = reader.skip(ends[count]!);
  const bytes = reader.bytes.subarray(start, reader.at);
  const hashes = new Int32Array(count);
  for (let index = 0; index < count; index++) hashes[index] = hashKey(bytes, ends[index]!, ends[index + 1]!);
  const columns: Column[] = [];
  for (let left = reader.count(); left > 0; left--) columns.push(decodeColumn(reader, count));
  return { keys: { count, bytes, ends, hashes }, columns };
}
