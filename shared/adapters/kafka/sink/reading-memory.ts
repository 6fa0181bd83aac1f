/** What is kept for the next commit at most; a larger one reads into memory that is then left to the garbage collector. */
const mostKeptBytes = 64 * 1024 * 1024;

/** Memory that staged output is read into, the same for one commit after the other: V8 collects all of its heap each time that a few megabytes of new buffers have been made. */
export class ReadingMemory {
  #kept: Buffer = Buffer.alloc(0);

  /** So many bytes, with anything in them, and nobody else's until they are given back. */
  take(bytes: number): Buffer {
    const kept = this.#kept;
    this.#kept = Buffer.alloc(0);
    // Pages that are never written to are no memory yet, and the next epoch may be larger.
    return kept.length >= bytes ? kept : Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
  }

  /** Nobody looks at it any more. */
  give(memory: Buffer): void {
    if (memory.length > this.#kept.length && memory.length <= mostKeptBytes) this.#kept = memory;
  }
}
