import { ByteReader, ByteWriter } from "../state/bytes.ts";
import { type Column, decodeColumn, encodeColumn } from "../state/columns.ts";
import type { Entries } from "../state/entries.ts";
import { byGroup, type KeyOrder } from "../state/key-order.ts";
import type { GroupRange } from "../state/stage-state.ts";
import type { Partials, WindowPartial } from "./partials.ts";

/** One task's part of what the sub-ranges of another came to, for a thread of the same process: the buffer can be transferred to it. */
export interface PackedPartials {
  readonly groups: GroupRange;
  readonly subRanges: number;
  readonly pieces: readonly Piece[];
  readonly buffer: ArrayBuffer;
}

/**
 * Entries of one window of one sub-range. From byte `at` of the buffer on, a multiple of eight: columns of numbers as they are, hashes, ends, the other columns as
 * `encodeColumn` writes them, keys.
 */
interface Piece {
  readonly subRange: number;
  readonly operator: string;
  readonly start: number;
  readonly at: number;
  readonly count: number;
  readonly keyBytes: number;
  /** Of each column its encoded size; -1: it holds numbers. */
  readonly columns: readonly number[];
}

const numbers = -1;
const alignment = 8;

/** Hashes go along, and typed columns are copied as they are: it is the shuffle object's content without its compression, checksums and varints. */
export function packPartials(
  partials: readonly Partials[],
  keyGroups: number,
  tasks: readonly GroupRange[],
): PackedPartials[] {
  const windows = partials.flatMap((ofSubRange, subRange) =>
    ofSubRange.map((window) => ({ subRange, window, grouped: byGroup(window.entries.keys, keyGroups) })),
  );
  return tasks.map((groups) => {
    const drafts: Draft[] = [];
    let size = 0;
    for (const { subRange, window, grouped } of windows) {
      const draft = draftOf(subRange, window, grouped, groups, size);
      if (draft.piece.count === 0) continue;
      drafts.push(draft);
      size = aligned(size + draft.size);
    }
    const buffer = new ArrayBuffer(size);
    for (const draft of drafts) fill(buffer, draft);
    return { groups, subRanges: partials.length, pieces: drafts.map(({ piece }) => piece), buffer };
  });
}

/** A piece whose size is known, and its entries: those of the numbers `order`. */
interface Draft {
  readonly piece: Piece;
  readonly size: number;
  readonly entries: Entries;
  readonly order: Int32Array;
  readonly encoded: readonly (Uint8Array | undefined)[];
}

function draftOf(
  subRange: number,
  { operator, start, entries }: WindowPartial,
  { order, starts }: KeyOrder,
  { from, to }: GroupRange,
  at: number,
): Draft {
  const own = order.subarray(starts[from], starts[to]);
  const { ends } = entries.keys;
  let keyBytes = 0;
  for (let index = 0; index < own.length; index++) keyBytes += ends[own[index]! + 1]! - ends[own[index]!]!;
  const encoded = entries.columns.map((column) => (column instanceof Float64Array ? undefined : encode(column, own)));
  const columns = encoded.map((bytes) => bytes?.length ?? numbers);
  const piece = { subRange, operator, start, at, count: own.length, keyBytes, columns };
  const size = placesOf(piece).end - at;
  return { piece, size, entries, order: own, encoded };
}

function encode(column: Column, order: Int32Array): Uint8Array {
  const writer = new ByteWriter(order.length * 8);
  encodeColumn(writer, column, order, 0, order.length);
  return writer.view();
}

/** Where the parts of a piece lie. */
function placesOf({ at, count, keyBytes, columns }: Piece) {
  const doubles = columns.filter((size) => size === numbers).length;
  const hashes = at + doubles * count * 8;
  const ends = hashes + count * 4;
  const encoded = ends + (count + 1) * 4;
  const keys = encoded + columns.reduce((sum, size) => sum + Math.max(0, size), 0);
  return { doubles: at, hashes, ends, encoded, keys, end: keys + keyBytes };
}

const aligned = (size: number): number => Math.ceil(size / alignment) * alignment;

function fill(buffer: ArrayBuffer, { piece, entries, order, encoded }: Draft): void {
  const places = placesOf(piece);
  const { count } = piece;
  let at = places.doubles;
  for (const column of entries.columns) {
    if (!(column instanceof Float64Array)) continue;
    const to = new Float64Array(buffer, at, count);
    for (let index = 0; index < count; index++) to[index] = column[order[index]!]!;
    at += count * 8;
  }
  const hashes = new Int32Array(buffer, places.hashes, count);
  const ends = new Int32Array(buffer, places.ends, count + 1);
  const bytes = new Uint8Array(buffer);
  at = places.encoded;
  for (const column of encoded) {
    if (column === undefined) continue;
    bytes.set(column, at);
    at += column.length;
  }
  copyKeys(entries, order, hashes, ends, new Uint8Array(buffer, places.keys, piece.keyBytes));
}

/** Keys are short: byte by byte is faster than a call for each. */
function copyKeys({ keys }: Entries, order: Int32Array, hashes: Int32Array, ends: Int32Array, to: Uint8Array): void {
  const { bytes, ends: from } = keys;
  let at = 0;
  for (let index = 0; index < order.length; index++) {
    const number = order[index]!;
    hashes[index] = keys.hashes[number]!;
    const end = from[number + 1]!;
    for (let next = from[number]!; next < end; next++) to[at++] = bytes[next]!;
    ends[index + 1] = at;
  }
}

/** What was packed, as views of the buffer: one element for each sub-range, in order, empty ones included. */
export function unpackPartials({ subRanges, pieces, buffer }: PackedPartials): Partials[] {
  const partials: WindowPartial[][] = Array.from({ length: subRanges }, () => []);
  for (const piece of pieces) {
    const { subRange, operator, start } = piece;
    partials[subRange]!.push({ operator, start, entries: entriesOf(buffer, piece) });
  }
  return partials;
}

function entriesOf(buffer: ArrayBuffer, piece: Piece): Entries {
  const { count, keyBytes } = piece;
  const places = placesOf(piece);
  let [doubles, encoded] = [places.doubles, places.encoded];
  const columns = piece.columns.map((size) => {
    if (size === numbers) {
      const column = new Float64Array(buffer, doubles, count);
      doubles += count * 8;
      return column;
    }
    const column = decodeColumn(new ByteReader(Buffer.from(buffer, encoded, size), 0, size), count);
    encoded += size;
    return column;
  });
  return {
    keys: {
      count,
      bytes: Buffer.from(buffer, places.keys, keyBytes),
      ends: new Int32Array(buffer, places.ends, count + 1),
      hashes: new Int32Array(buffer, places.hashes, count),
    },
    columns,
  };
}
