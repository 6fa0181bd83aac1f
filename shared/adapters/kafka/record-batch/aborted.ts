/** A transaction that was aborted, as a Fetch response lists it. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/**
 * Tells which batches of one Fetch response belong to aborted transactions, as the Java consumer does: a producer's batches do from a listed first offset
 * on, until its next control batch. The list comes in no order that one may rely on. Batches must be shown in the order of their offsets.
 */
export class AbortedFilter {
  /** Descending, so that the next is at the end. */
  readonly #upcoming: AbortedTransaction[];
  readonly #open = new Set<bigint>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#upcoming = aborted.toSorted((a, b) => b.firstOffset - a.firstOffset);
  }

  /** No transaction is listed: nothing needs to be shown. */
  get isEmpty(): boolean {
    return this.#upcoming.length === 0 && this.#open.size === 0;
  }

  isAborted(producerId: bigint, lastOffset: number): boolean {
    this.#openUpTo(lastOffset);
    return this.#open.has(producerId);
  }

  endsTransaction(producerId: bigint, lastOffset: number): void {
    this.#openUpTo(lastOffset);
    this.#open.delete(producerId);
  }

  #openUpTo(offset: number): void {
    for (let next = this.#upcoming.at(-1); next !== undefined && next.firstOffset <= offset; ) {
      this.#open.add(next.producerId);
      this.#upcoming.pop();
      next = this.#upcoming.at(-1);
    }
  }
}
