import type { ReadableInput, Span } from "../lines/lines.ts";
import type { InputObject } from "./input-object.ts";

/** A request has its price and its latency: few large ones, the next on its way while one is worked on. */
const defaultBlockBytes = 4 << 20;

/** A span of an object that is read from its beginning to its end, in blocks. */
export class ReadAhead implements ReadableInput {
  readonly #object: InputObject;
  readonly #span: Span;
  readonly #blockBytes: number;
  /** By number; two are kept, and the next one. */
  readonly #blocks = new Map<number, Promise<Uint8Array>>();

  constructor(object: InputObject, span: Span, blockBytes = defaultBlockBytes) {
    this.#object = object;
    this.#span = span;
    this.#blockBytes = blockBytes;
  }

  async readAll(buffer: Buffer, length: number, position: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const offset = position + done - this.#span.from;
      // Before the span: a look at the line end there.
      if (offset < 0) return await this.#object.readAll(buffer, length, position);
      const number = Math.floor(offset / this.#blockBytes);
      const block = await this.#block(number);
      const from = offset - number * this.#blockBytes;
      const piece = block.subarray(from, from + length - done);
      if (piece.length === 0) return buffer.set(await this.#object.bytes(position + done, position + length), done);
      buffer.set(piece, done);
      done += piece.length;
    }
  }

  async #block(number: number): Promise<Uint8Array> {
    const block = this.#fetch(number);
    this.#fetch(number + 1);
    for (const other of this.#blocks.keys()) if (Math.abs(other - number) > 1) this.#blocks.delete(other);
    return await block;
  }

  #fetch(number: number): Promise<Uint8Array> {
    const known = this.#blocks.get(number);
    if (known) return known;
    const start = Math.min(this.#span.to, this.#span.from + number * this.#blockBytes);
    const block = this.#object.bytes(start, Math.min(this.#span.to, start + this.#blockBytes));
    block.catch(() => this.#blocks.delete(number));
    this.#blocks.set(number, block);
    return block;
  }
}
