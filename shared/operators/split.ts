import type { TextSplit } from "../pipeline/text-split.ts";
import { Texts } from "./values.ts";

/** Cuts texts where they are: the pieces are slices of the same bytes. Gives what `splitFunction` gives of the strings. */
export function compileSplit({ separator }: TextSplit): (input: Texts) => Texts {
  const pieces = new Pieces();
  const cut = separator === undefined ? cutWords : cutAt(Buffer.from(separator));
  return (input) => {
    pieces.count = 0;
    cut(input, pieces);
    return new Texts(input.origin, input.bytes, pieces);
  };
}

/** What the texts of a batch were cut into, in columns that the next batch uses again. */
class Pieces {
  count = 0;
  rows = new Int32Array(1024);
  starts = new Int32Array(1024);
  ends = new Int32Array(1024);

  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.rows.length) return;
    const larger = (column: Int32Array) => {
      const copy = new Int32Array(Math.max(needed, column.length * 2));
      copy.set(column);
      return copy;
    };
    this.rows = larger(this.rows);
    this.starts = larger(this.starts);
    this.ends = larger(this.ends);
  }

  add(row: number, start: number, end: number): void {
    const index = this.count++;
    this.rows[index] = row;
    this.starts[index] = start;
    this.ends[index] = end;
  }
}

function cutWords({ count, bytes, rows, starts, ends }: Texts, pieces: Pieces): void {
  for (let index = 0; index < count; index++) {
    const end = ends[index]!;
    let at = starts[index]!;
    pieces.reserve((end - at + 1) >> 1);
    for (; at < end; at++) {
      if (isWhite(bytes[at]!)) continue;
      const start = at++;
      while (at < end && !isWhite(bytes[at]!)) at++;
      pieces.add(rows[index]!, start, at);
    }
  }
}

/** All of ASCII's, which no other character of UTF-8 has among its bytes. */
function isWhite(byte: number): boolean {
  return byte <= 32 && (byte === 32 || (byte >= 9 && byte <= 13));
}

/** A separator of UTF-8 is found in UTF-8 where it is found in the characters: no character begins within another. */
function cutAt(separator: Uint8Array): (input: Texts, pieces: Pieces) => void {
  const { length } = separator;
  return ({ count, bytes, rows, starts, ends }, pieces) => {
    for (let index = 0; index < count; index++) {
      const end = ends[index]!;
      let start = starts[index]!;
      pieces.reserve(Math.floor((end - start) / length) + 1);
      for (let at = start; at + length <= end; ) {
        if (!isAt(separator, bytes, at)) at++;
        else {
          pieces.add(rows[index]!, start, at);
          at += length;
          start = at;
        }
      }
      pieces.add(rows[index]!, start, end);
    }
  };
}

function isAt(separator: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < separator.length; index++) if (bytes[at + index] !== separator[index]) return false;
  return true;
}
