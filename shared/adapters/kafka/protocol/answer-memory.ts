/** What is smaller is not worth it. */
const leastBytes = 32 * 1024;
/** Sizes differ by what a broker adds to what it was asked for: rounded up, one fits for the other. */
const unitBytes = 64 * 1024;
/** What lies here unused is no more: two answers of each of the ranges that a task has open. */
const mostFreeBytes = 8 * 1024 * 1024;

/**
 * Memory of large answers, used again once all parts that were lent of one are given back. With new memory for each, V8 collects all garbage every time that some megabytes have come in, and the
 * kernel has to clear the pages. What is not lent, or is never given back, is garbage like any other.
 */
export class AnswerMemory {
  readonly #ours = new WeakSet<ArrayBufferLike>();
  /** The parts of an answer that are looked at. */
  readonly #lent = new WeakMap<ArrayBufferLike, Set<Buffer>>();
  readonly #free: ArrayBufferLike[] = [];
  #freeBytes = 0;

  /** Room for an answer. */
  take(size: number): Buffer {
    if (size < leastBytes) return Buffer.allocUnsafe(size);
    const memory = this.#used(size) ?? Buffer.allocUnsafeSlow(Math.ceil(size / unitBytes) * unitBytes).buffer;
    this.#ours.add(memory);
    return Buffer.from(memory, 0, size);
  }

  /** Somebody looks at a part of an answer, until it is given back. All parts are lent before the first one is. */
  lend(part: Buffer): void {
    const memory = part.buffer;
    if (!this.#ours.has(memory)) return;
    const parts = this.#lent.get(memory) ?? new Set();
    this.#lent.set(memory, parts.add(part));
  }

  /** Nobody looks at a part any more. A second time, or of what was not lent, it means nothing. */
  giveBack(part: Buffer): void {
    const memory = part.buffer;
    const parts = this.#lent.get(memory);
    if (!parts?.delete(part) || parts.size > 0) return;
    this.#lent.delete(memory);
    if (this.#freeBytes + memory.byteLength > mostFreeBytes) return;
    this.#free.push(memory);
    this.#freeBytes += memory.byteLength;
  }

  #used(size: number): ArrayBufferLike | undefined {
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= size);
    if (at < 0) return undefined;
    const [memory] = this.#free.splice(at, 1);
    this.#freeBytes -= memory!.byteLength;
    return memory;
  }
}
