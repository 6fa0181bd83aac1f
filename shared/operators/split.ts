import type { TextSplit } from "../pipeline/text-split.ts";
import { Texts } from "./values.ts";

/** Cuts texts where they are: the pieces are slices of the same bytes. Gives what `splitFunction` gives of the strings. */
export function compileSplit({ separator }: TextSplit): (input: Texts) => Texts {
  const pieces = new Pieces();
  const cut = separator === undefined ? cutWords : cutAt(Buffer.from(separator));
  return (input) => {
    cut(input, pieces);
    return new Texts(input.origin, input.bytes, pieces);
  };
}

/** What the texts of a batch were cut into, in columns that the next batch uses again. */
class Pieces {
  count = 0;
  rows: Int32Array = new Int32Array(1024);
  starts: Int32Array = new Int32Array(1024);
  ends: Int32Array = new Int32Array(1024);

  /** Makes room for pieces beside the first `count`. */
  reserve(count: number, more: number): void {
    if (count + more <= this.rows.length) return;
    this.rows = this.#larger(this.rows, count + more);
    this.starts = this.#larger(this.starts, count + more);
    this.ends = this.#larger(this.ends, count + more);
  }

  #larger(column: Int32Array, needed: number): Int32Array {
    const copy = new Int32Array(Math.max(needed, column.length * 2));
    copy.set(column);
    return copy;
  }
}

function cutWords({ count, bytes, rows, starts, ends }: Texts, pieces: Pieces): void {
  let pieceCount = 0;
  for (let index = 0; index < count; index++) {
    const row = rows[index]!;
    const end = ends[index]!;
    let at = starts[index]!;
    pieces.reserve(pieceCount, (end - at + 1) >> 1);
    const { rows: pieceRows, starts: pieceStarts, ends: pieceEnds } = pieces;
    for (; at < end; at++) {
      if (isWhite(bytes[at]!)) continue;
      const start = at++;
      while (at < end && !isWhite(bytes[at]!)) at++;
      pieceRows[pieceCount] = row;
      pieceStarts[pieceCount] = start;
      pieceEnds[pieceCount++] = at;
    }
  }
  pieces.count = pieceCount;
}

/** All of ASCII's, which no other character of UTF-8 has among its bytes. */
function isWhite(byte: number): boolean {
  return byte <= 32 && (byte === 32 || (byte >= 9 && byte <= 13));
}

/** A separator of UTF-8 is found in UTF-8 where it is found in the characters: no character begins within another. */
function cutAt(separator: Uint8Array): (input: Texts, pieces: Pieces) => void {
  const { length } = separator;
  return ({ count, bytes, rows, starts, ends }, pieces) => {
    let pieceCount = 0;
    for (let index = 0; index < count; index++) {
      const row = rows[index]!;
      const end = ends[index]!;
      let start = starts[index]!;
      pieces.reserve(pieceCount, Math.floor((end - start) / length) + 1);
      const { rows: pieceRows, starts: pieceStarts, ends: pieceEnds } = pieces;
      for (let at = start; at <= end; ) {
        const isEnd = at + length > end;
        if (!isEnd && !isAt(separator, bytes, at)) {
          at++;
          continue;
        }
        pieceRows[pieceCount] = row;
        pieceStarts[pieceCount] = start;
        pieceEnds[pieceCount++] = isEnd ? end : at;
        if (isEnd) break;
        at += length;
        start = at;
      }
    }
    pieces.count = pieceCount;
  };
}

function isAt(separator: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < separator.length; index++) if (bytes[at + index] !== separator[index]) return false;
  return true;
}
