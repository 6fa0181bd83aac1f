import { ByteReader, ByteWriter } from "../state/bytes.ts";
import { type Column, decodeColumn, encodeColumn } from "../state/columns.ts";
import { type Entries, keyOf } from "../state/entries.ts";
import { keyGroupOf } from "../state/key-codec.ts";
import { byPart } from "../state/key-order.ts";
import type { KeyColumn } from "../state/key-table.ts";
import type { GroupRange } from "../state/stage-state.ts";
import { copyBytes } from "../utf8.ts";
import type { Partials, WindowPartial } from "./partials.ts";

/** One task's part of what the sub-ranges of another came to, for a thread of the same process: the buffer can be transferred to it. */
export interface PackedPartials {
  readonly groups: GroupRange;
  readonly subRanges: number;
  readonly dictionaries: readonly PackedKeys[];
  readonly pieces: readonly Piece[];
  readonly buffer: ArrayBuffer;
}

/** Keys of the task, each once. From byte `at` of the buffer on, a multiple of eight: hashes, ends, keys. */
interface PackedKeys {
  readonly at: number;
  readonly count: number;
  readonly keyBytes: number;
}

/**
 * Entries of one window of one sub-range. From byte `at` of the buffer on, a multiple of eight: columns of numbers as they are, the numbers of their keys in the dictionary, the other columns as
 * `encodeColumn` writes them.
 */
interface Piece {
  readonly subRange: number;
  readonly operator: string;
  readonly start: number;
  readonly at: number;
  readonly count: number;
  /** Which of the dictionaries. */
  readonly dictionary: number;
  /** Of each column its encoded size; -1: it holds numbers. */
  readonly columns: readonly number[];
}

const numbers = -1;
const alignment = 8;

/** Hashes go along, and typed columns are copied as they are: it is the shuffle object's content without its compression, checksums and varints, and with each key once. */
export function packPartials(
  partials: readonly Partials[],
  keyGroups: number,
  tasks: readonly GroupRange[],
): PackedPartials[] {
  const taskOf = tasksOf(keyGroups, tasks);
  const dictionaries = new Map<KeyColumn, DealtKeys>();
  const windows = partials.flatMap((ofSubRange, subRange) =>
    ofSubRange.map((window) => {
      const { keys } = window.entries;
      const dealt = dictionaries.get(keys) ?? new DealtKeys(keys, keyGroups, taskOf, tasks.length);
      dictionaries.set(keys, dealt);
      return { subRange, window, dealt, ...dealt.dealOut(window.entries) };
    }),
  );
  const dealt = [...dictionaries.values()];
  return tasks.map((groups, task) => {
    let size = 0;
    const place = (bytes: number) => {
      const at = size;
      size = aligned(size + bytes);
      return at;
    };
    const own = dealt.map((keys) => keys.draft(task, place));
    const drafts: Draft[] = [];
    for (const { subRange, window, dealt: keys, order, starts } of windows) {
      if (starts[task] === starts[task + 1]) continue;
      const of = { subRange, dictionary: dealt.indexOf(keys) };
      drafts.push(draftOf(of, window, keys, order.subarray(starts[task], starts[task + 1]), place));
    }
    const buffer = new ArrayBuffer(size);
    for (const [index, keys] of dealt.entries()) keys.fill(buffer, task, own[index]!);
    for (const draft of drafts) fill(buffer, draft);
    return { groups, subRanges: partials.length, dictionaries: own, pieces: drafts.map(({ piece }) => piece), buffer };
  });
}

/** By key group. */
function tasksOf(keyGroups: number, tasks: readonly GroupRange[]): Int32Array {
  const taskOf = new Int32Array(keyGroups);
  for (const [task, { from, to }] of tasks.entries()) taskOf.fill(task, from, to);
  return taskOf;
}

type Place = (bytes: number) => number;

/** A dictionary's keys, dealt out to tasks. */
class DealtKeys {
  readonly #keys: KeyColumn;
  readonly #tasks: number;
  /** By key: its task, and its number there. */
  readonly #taskOf: Int32Array;
  readonly numbers: Int32Array;
  readonly #counts: Int32Array;
  readonly #bytes: Int32Array;

  constructor(keys: KeyColumn, keyGroups: number, taskOf: Int32Array, tasks: number) {
    const { count, hashes, ends } = keys;
    this.#keys = keys;
    this.#tasks = tasks;
    this.#taskOf = new Int32Array(count);
    this.numbers = new Int32Array(count);
    this.#counts = new Int32Array(tasks);
    this.#bytes = new Int32Array(tasks);
    for (let key = 0; key < count; key++) {
      const task = taskOf[keyGroupOf(hashes[key]!, keyGroups)]!;
      this.#taskOf[key] = task;
      this.numbers[key] = this.#counts[task]!++;
      this.#bytes[task]! += ends[key + 1]! - ends[key]!;
    }
  }

  /** Entries by task. */
  dealOut({ numbers }: Entries) {
    const tasks = numbers?.map((key) => this.#taskOf[key]!) ?? this.#taskOf;
    return byPart(tasks, this.#tasks);
  }

  draft(task: number, place: Place): PackedKeys {
    const count = this.#counts[task]!;
    const keyBytes = this.#bytes[task]!;
    return { at: place(count * 4 + (count + 1) * 4 + keyBytes), count, keyBytes };
  }

  fill(buffer: ArrayBuffer, task: number, dictionary: PackedKeys): void {
    const { hashes, ends, bytes } = keysOf(buffer, dictionary);
    const from = this.#keys;
    for (let key = 0, own = 0; key < from.count; key++) {
      if (this.#taskOf[key] !== task) continue;
      hashes[own] = from.hashes[key]!;
      ends[own + 1] = copyBytes(bytes, ends[own]!, from.bytes, from.ends[key]!, from.ends[key + 1]!);
      own++;
    }
  }
}

function keysOf(buffer: ArrayBuffer, { at, count, keyBytes }: PackedKeys): KeyColumn {
  const ends = at + count * 4;
  return {
    count,
    hashes: new Int32Array(buffer, at, count),
    ends: new Int32Array(buffer, ends, count + 1),
    bytes: Buffer.from(buffer, ends + (count + 1) * 4, keyBytes),
  };
}

/** A piece whose size is known, and its entries: those of the numbers `order`. */
interface Draft {
  readonly piece: Piece;
  readonly entries: Entries;
  readonly keys: DealtKeys;
  readonly order: Int32Array;
  readonly encoded: readonly (Uint8Array | undefined)[];
}

function draftOf(
  of: Pick<Piece, "subRange" | "dictionary">,
  { operator, start, entries }: WindowPartial,
  keys: DealtKeys,
  order: Int32Array,
  place: Place,
): Draft {
  const encoded = entries.columns.map((column) => (column instanceof Float64Array ? undefined : encode(column, order)));
  const columns = encoded.map((bytes) => bytes?.length ?? numbers);
  const at = place(placesOf({ at: 0, count: order.length, columns }).end);
  return { piece: { ...of, operator, start, at, count: order.length, columns }, entries, keys, order, encoded };
}

function encode(column: Column, order: Int32Array): Uint8Array {
  const writer = new ByteWriter(order.length * 8);
  encodeColumn(writer, column, order, 0, order.length);
  return writer.view();
}

/** Where the parts of a piece lie. */
function placesOf({ at, count, columns }: Pick<Piece, "at" | "count" | "columns">) {
  const keys = at + columns.filter((size) => size === numbers).length * count * 8;
  const encoded = keys + count * 4;
  return { doubles: at, keys, encoded, end: encoded + columns.reduce((sum, size) => sum + Math.max(0, size), 0) };
}

const aligned = (size: number): number => Math.ceil(size / alignment) * alignment;

function fill(buffer: ArrayBuffer, { piece, entries, keys, order, encoded }: Draft): void {
  const places = placesOf(piece);
  const { count } = piece;
  let at = places.doubles;
  for (const column of entries.columns) {
    if (!(column instanceof Float64Array)) continue;
    copyNumbers(column, order, new Float64Array(buffer, at, count));
    at += count * 8;
  }
  copyKeys(entries, order, keys.numbers, new Int32Array(buffer, places.keys, count));
  const bytes = new Uint8Array(buffer);
  at = places.encoded;
  for (const column of encoded) {
    if (column === undefined) continue;
    bytes.set(column, at);
    at += column.length;
  }
}

function copyNumbers(from: Float64Array, order: Int32Array, to: Float64Array): void {
  for (let index = 0; index < order.length; index++) to[index] = from[order[index]!]!;
}

function copyKeys(entries: Entries, order: Int32Array, numbers: Int32Array, to: Int32Array): void {
  for (let index = 0; index < order.length; index++) to[index] = numbers[keyOf(entries, order[index]!)]!;
}

/** What was packed, as views of the buffer: one element for each sub-range, in order, empty ones included. */
export function unpackPartials({ subRanges, dictionaries, pieces, buffer }: PackedPartials): Partials[] {
  const keys = dictionaries.map((dictionary) => keysOf(buffer, dictionary));
  const partials: WindowPartial[][] = Array.from({ length: subRanges }, () => []);
  for (const piece of pieces) {
    const { subRange, operator, start } = piece;
    partials[subRange]!.push({ operator, start, entries: entriesOf(buffer, piece, keys[piece.dictionary]!) });
  }
  return partials;
}

function entriesOf(buffer: ArrayBuffer, piece: Piece, keys: KeyColumn): Entries {
  const { count } = piece;
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
  return { keys, numbers: new Int32Array(buffer, places.keys, count), columns };
}
