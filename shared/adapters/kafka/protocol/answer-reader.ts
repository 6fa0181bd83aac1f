import type { AnswerMemory } from "./answer-memory.ts";

const sizeBytes = 4;
const leastBytes = 4;
/** An answer that says it is larger is none, but what something else than a broker sends. */
const mostBytes = 1 << 30;

/** Cuts what a socket receives into answers: size, correlation id, body. What it is given is copied, and may be used again at once. */
export class AnswerReader {
  readonly #memory: AnswerMemory;
  readonly #take: (correlationId: number, body: Buffer) => void;
  readonly #size = Buffer.alloc(sizeBytes);
  #sizeFilled = 0;
  #answer: Buffer | undefined;
  #filled = 0;

  constructor(memory: AnswerMemory, take: (correlationId: number, body: Buffer) => void) {
    this.#memory = memory;
    this.#take = take;
  }

  /** @throws RangeError for bytes that are no answer */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; )
      at = this.#answer === undefined ? this.#begin(chunk, at) : this.#go(chunk, at);
  }

  #begin(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#size, this.#sizeFilled, at);
    this.#sizeFilled += copied;
    if (this.#sizeFilled < sizeBytes) return at + copied;
    this.#sizeFilled = 0;
    const size = this.#size.readInt32BE(0);
    if (size < leastBytes || size > mostBytes) throw new RangeError(`it sends an answer of ${size} bytes`);
    this.#answer = this.#memory.take(size);
    this.#filled = 0;
    return at + copied;
  }

  #go(chunk: Buffer, at: number): number {
    const answer = this.#answer!;
    const copied = chunk.copy(answer, this.#filled, at);
    this.#filled += copied;
    if (this.#filled === answer.length) {
      this.#answer = undefined;
      this.#end(answer);
    }
    return at + copied;
  }

  #end(answer: Buffer): void {
    this.#take(answer.readInt32BE(0), answer.subarray(leastBytes));
  }
}
