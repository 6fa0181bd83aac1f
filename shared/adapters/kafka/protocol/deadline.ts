/** Until when a call must be over, and the signal that ends it before. */
export class Deadline {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly #at: number;

  constructor(timeoutMs: number, signal?: AbortSignal) {
    this.timeoutMs = timeoutMs;
    this.signal = signal;
    this.#at = performance.now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#at - performance.now());
  }

  /** The same signal, and no more than `timeoutMs` from now. */
  within(timeoutMs: number): Deadline {
    return new Deadline(Math.min(timeoutMs, this.leftMs), this.signal);
  }

  /**
   * What the promise gives. At the deadline `expire` makes the error; on the signal its reason is thrown. Either way the promise goes on by itself, and
   * what becomes of it is nobody's concern any more.
   */
  async race<T>(promise: Promise<T>, expire: () => unknown): Promise<T> {
    const { promise: end, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(expire()), this.leftMs);
    const abort = () => reject(this.signal!.reason);
    this.signal?.addEventListener("abort", abort);
    try {
      if (this.signal?.aborted) abort();
      return await Promise.race([end, promise]);
    } finally {
      clearTimeout(timer);
      this.signal?.removeEventListener("abort", abort);
    }
  }

  /** Resolves after so many milliseconds. Throws as `race` does. */
  async sleep(ms: number, expire: () => unknown): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await this.race(
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, ms);
        }),
        expire,
      );
    } finally {
      clearTimeout(timer);
    }
  }
}
