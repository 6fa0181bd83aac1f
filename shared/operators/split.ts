import type { TextSplit } from "../pipeline/text-split.ts";
import { viewOf } from "../state/bytes.ts";
import { blockBytes, findBytes, firstOf, wanted } from "./byte-search.ts";
import { Texts } from "./values.ts";

/** Cuts texts where they are: the pieces are slices of the same bytes. Gives what `splitFunction` gives of the strings. */
export function compileSplit({ separator }: TextSplit): (input: Texts) => Texts {
  const pieces = new Pieces();
  const cut = separator === undefined ? cutIntoWords : cutAt(Buffer.from(separator));
  return (input) => {
    const { count, bytes, rows, starts, ends } = input;
    const view = viewOf(bytes);
    pieces.count = 0;
    for (let index = 0; index < count; index++)
      cut(view, bytes.length, starts[index]!, ends[index]!, rows[index]!, pieces);
    return new Texts(input.origin, bytes, pieces);
  };
}

/**
 * Adds the pieces of one text, `[start, end)` of a view of `size` bytes. Called for each text, so that V8 compiles it as a whole: a loop over all texts of a batch is
 * compiled before its end was ever reached, and anew when it is.
 */
type Cut = (view: DataView, size: number, start: number, end: number, row: number, pieces: Pieces) => void;

/** What the texts of a batch were cut into, in columns that the next batch uses again. */
class Pieces {
  count = 0;
  rows = new Int32Array();
  starts = new Int32Array();
  ends = new Int32Array();
  /** How many there is room for: kept here, since to ask a column takes long. */
  #room = 0;

  /** Makes room for more pieces. */
  reserve(more: number): void {
    if (this.count + more > this.#room) this.#grow(this.count + more);
  }

  #grow(needed: number): void {
    this.#room = Math.max(needed, 1024, this.#room * 2);
    this.rows = larger(this.rows, this.#room);
    this.starts = larger(this.starts, this.#room);
    this.ends = larger(this.ends, this.#room);
  }
}

function larger(column: Int32Array, room: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(room);
  copy.set(column);
  return copy;
}

/** A space, and what comes before it in ASCII, white or not. */
const noMoreThanSpace = wanted(0, 0x21);

const cutIntoWords: Cut = (view, size, start, end, row, pieces) => {
  // Written before it is known whether there is one: so one more.
  pieces.reserve(((end - start + 1) >> 1) + 1);
  const { pattern, addend } = noMoreThanSpace;
  const { rows, starts, ends } = pieces;
  let { count } = pieces;
  let begin = start;
  for (let block = start; block < end; block += blockBytes) {
    for (let found = findBytes(view, size, block, end, pattern, addend); found !== 0; found &= found - 1) {
      const at = block + firstOf(found);
      if (!isWhite(view.getUint8(at))) continue;
      rows[count] = row;
      starts[count] = begin;
      ends[count] = at;
      if (at > begin) count++;
      begin = at + 1;
    }
  }
  if (end > begin) {
    rows[count] = row;
    starts[count] = begin;
    ends[count++] = end;
  }
  pieces.count = count;
};

/** All of ASCII's, which no other character of UTF-8 has among its bytes. */
function isWhite(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

/** A separator of UTF-8 is found in UTF-8 where it is found in the characters: no character begins within another. */
function cutAt(separator: Uint8Array): Cut {
  const { length } = separator;
  const rest = separator.subarray(1);
  const { pattern, addend } = wanted(separator[0]!, 1);
  return (view, size, start, end, row, pieces) => {
    pieces.reserve(Math.floor((end - start) / length) + 1);
    const { rows, starts, ends } = pieces;
    let { count } = pieces;
    let begin = start;
    for (let block = start; block < end; block += blockBytes) {
      for (let found = findBytes(view, size, block, end, pattern, addend); found !== 0; found &= found - 1) {
        const at = block + firstOf(found);
        if (at < begin || (length > 1 && !isRestAt(rest, view, at + 1, end))) continue;
        rows[count] = row;
        starts[count] = begin;
        ends[count++] = at;
        begin = at + length;
      }
    }
    rows[count] = row;
    starts[count] = begin;
    ends[count++] = end;
    pieces.count = count;
  };
}

function isRestAt(rest: Uint8Array, view: DataView, at: number, end: number): boolean {
  if (at + rest.length > end) return false;
  for (let index = 0; index < rest.length; index++) if (view.getUint8(at + index) !== rest[index]) return false;
  return true;
}
