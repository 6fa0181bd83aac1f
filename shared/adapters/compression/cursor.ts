import { shrank } from "../lines/input-errors.ts";
import { type Compression, decompress, type RawInput } from "./decompress.ts";

/**
 * A place in a decompressed stream, which goes on from there and never back: but for what its last read began with, since readers of lines look again at
 * the beginning of one that is not whole yet.
 */
export class Cursor {
  readonly #raw: RawInput;
  readonly #chunks: AsyncGenerator<Buffer>;
  #window: Buffer[] = [];
  #base = 0;
  #end = 0;
  #isOver = false;

  constructor(raw: RawInput, format: Compression) {
    this.#raw = raw;
    this.#chunks = decompress(raw, format);
  }

  /** Nothing before it can be read any more. */
  get position(): number {
    return this.#base;
  }

  /** Everything was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Bytes from `position`, at least that of the last call, into the start of the buffer. */
  async readAll(buffer: Buffer, length: number, position: number): Promise<void> {
    this.#forget(position);
    while (this.#end < position + length) {
      const { done, value } = await this.#chunks.next();
      this.#isOver = done === true;
      if (done) throw shrank(this.#raw.path, this.#end, position + length);
      this.#window.push(value);
      this.#end += value.length;
      this.#forget(position);
    }
    let at = this.#base;
    for (const chunk of this.#window) {
      const from = Math.max(0, position - at);
      const to = Math.min(chunk.length, position + length - at);
      if (from < to) chunk.copy(buffer, at + from - position, from, to);
      at += chunk.length;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return(undefined);
    await this.#raw.close();
  }

  #forget(position: number): void {
    while (this.#window.length > 0 && this.#base + this.#window[0]!.length <= position) {
      this.#base += this.#window.shift()!.length;
    }
  }
}
