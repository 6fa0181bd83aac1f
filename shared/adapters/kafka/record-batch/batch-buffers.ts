const smallestBytes = 4096;
/** What is given back beyond this is left to the garbage collector: so one large epoch does not keep its memory for ever. */
const mostKeptBytes = 64 * 1024 * 1024;

/** A size of buffers: a power of two and a bit, so that a batch of a round size and its next record, which is too much, are in one. */
function sizeFor(bytes: number): number {
  let power = smallestBytes;
  while (power + power / 16 < bytes) power *= 2;
  return power + power / 16;
}

/**
 * Buffers for record batches, used again and again: V8 collects all of its heap each time that a few megabytes of new buffers have been made.
 */
export class BatchBuffers {
  readonly #free = new Map<number, Buffer[]>();
  #keptBytes = 0;

  /** A buffer of at least so many bytes, with anything in it. */
  take(bytes: number): Buffer {
    const size = sizeFor(bytes);
    const free = this.#free.get(size)?.pop();
    if (free === undefined) return Buffer.allocUnsafeSlow(size);
    this.#keptBytes -= size;
    return free;
  }

  /** Takes back a buffer that nobody looks at any more. */
  give(buffer: Buffer): void {
    if (this.#keptBytes + buffer.length > mostKeptBytes) return;
    this.#keptBytes += buffer.length;
    const free = this.#free.get(buffer.length);
    if (free === undefined) this.#free.set(buffer.length, [buffer]);
    else free.push(buffer);
  }
}
