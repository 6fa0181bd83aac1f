/** Larger files count one by one: each has to be decompressed from its beginning, unless its cursors are kept. */
const smallBytes = 1 << 20;
const mostLarge = 8;
const mostBytes = 64 << 20;

/** How much compressed input is open to be read: what is read in the next epochs is known in size, and the rest waits for its turn. */
export class Turn {
  #large = 0;
  #bytes = 0;

  get isOpen(): boolean {
    return this.#large < mostLarge && this.#bytes < mostBytes;
  }

  /** @param bytes decompressed, and not read yet */
  take(bytes: number): void {
    if (bytes > smallBytes) this.#large += 1;
    this.#bytes += bytes;
  }
}
