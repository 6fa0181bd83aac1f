import type { RowWriter } from "../../json-bytes/rows.ts";
import { writeUtf8 } from "../../utf8.ts";

const firstBytes = 4096;
/** Room for a row that writes itself, before it is known how long it is. */
const writtenBytes = 1024;

/** Lines as UTF-8, one after the other, until they are taken. */
export class Lines {
  bytes = 0;
  readonly #usual: number;
  #buffer = Buffer.alloc(0);

  /** @param usual bytes at which they are taken, mostly */
  constructor(usual: number) {
    this.#usual = usual;
  }

  add(line: string): void {
    this.#reserve(3 * line.length);
    this.bytes = writeUtf8(this.#buffer, this.bytes, line);
  }

  /** @returns false if the row cannot write itself: then nothing is added */
  addWritten(row: RowWriter, lineEnd: string): boolean {
    this.#reserve(writtenBytes);
    const end = row.write(this.#buffer, this.bytes, this.#buffer.length - lineEnd.length);
    if (end < 0) return false;
    this.bytes = writeUtf8(this.#buffer, end, lineEnd);
    return true;
  }

  /** All of them; they are the caller's. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.bytes);
    this.#buffer = Buffer.alloc(0);
    this.bytes = 0;
    return taken;
  }

  #reserve(more: number): void {
    const needed = this.bytes + more;
    if (needed <= this.#buffer.length) return;
    // Many files may be open, each with few lines; one that has many will have as many as usual, and a line more.
    const next =
      this.bytes === 0 ? firstBytes : this.#buffer.length >= this.#usual / 8 ? this.#usual + writtenBytes : 0;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, next, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.bytes);
    this.#buffer = larger;
  }
}
