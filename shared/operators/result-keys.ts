import type { RowColumn } from "../ports/columns.ts";
import { decodeKey, textTag } from "../state/key-codec.ts";
import { copyBytes } from "../utf8.ts";
import { textsOf } from "./column-rows.ts";

const bytesPerKey = 16;

/** The keys of rows: texts stay bytes as long as there is nothing else among them. */
export class ResultKeys {
  #length = 0;
  #bytes: Buffer;
  readonly #ends: Int32Array;
  /** All keys so far, once one of them is no text. */
  #values: unknown[] | undefined;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity * bytesPerKey);
    this.#ends = new Int32Array(capacity + 1);
  }

  get column(): RowColumn {
    return this.#values ?? { bytes: this.#bytes, ends: this.#ends };
  }

  clear(): void {
    this.#length = 0;
    this.#values = undefined;
  }

  /** Adds the keys `[from, to)`, of which key i is `bytes[ends[i], ends[i + 1])`. */
  addAll(bytes: Buffer, ends: Int32Array, from: number, to: number): void {
    if (this.#values === undefined && areTexts(bytes, ends, from, to)) this.#addTexts(bytes, ends, from, to);
    else for (let index = from; index < to; index++) this.add(bytes, ends[index]!, ends[index + 1]!);
  }

  /** Adds the key `bytes[start, end)`, as it is encoded. */
  add(bytes: Buffer, start: number, end: number): void {
    if (this.#values === undefined && bytes[start] === textTag) this.#addText(bytes, start + 1, end);
    else this.#addValue(decodeKey(bytes, start, end));
  }

  #addText(bytes: Buffer, start: number, end: number): void {
    const from = this.#ends[this.#length]!;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#grow(from, to);
    copyBytes(this.#bytes, from, bytes, start, end);
    this.#ends[++this.#length] = to;
  }

  #addTexts(bytes: Buffer, ends: Int32Array, from: number, to: number): void {
    const begun = this.#ends[this.#length]!;
    const most = begun + ends[to]! - ends[from]!;
    if (most > this.#bytes.length) this.#grow(begun, most);
    copyTexts(bytes, ends, from, to, this.#bytes, this.#ends, this.#length);
    this.#length += to - from;
  }

  #addValue(key: unknown): void {
    this.#values ??= textsOf({ bytes: this.#bytes, ends: this.#ends }, this.#length);
    this.#values.push(key);
  }

  #grow(used: number, needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, used));
    this.#bytes = larger;
  }
}

function areTexts(bytes: Buffer, ends: Int32Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (bytes[ends[index]!] !== textTag) return false;
  return true;
}

/** Puts the texts of keys `[from, to)` behind the `count` that are there. */
function copyTexts(
  bytes: Buffer,
  ends: Int32Array,
  from: number,
  to: number,
  target: Buffer,
  targetEnds: Int32Array,
  count: number,
): void {
  let at = targetEnds[count]!;
  for (let index = from, next = count + 1; index < to; index++, next++) {
    at = copyBytes(target, at, bytes, ends[index]! + 1, ends[index + 1]!);
    targetEnds[next] = at;
  }
}
