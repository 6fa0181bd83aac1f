/** A bounded number of calls under way at once. After one has failed no other begins. */
export class CallWindow {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins a call as soon as there is room. @throws what one before has thrown */
  async add(call: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    this.#check();
    const running = call()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when none is under way. @throws what the first has thrown that failed */
  async settled(): Promise<void> {
    await this.over();
    this.#check();
  }

  /** The same, whatever became of them. */
  async over(): Promise<void> {
    await Promise.all(this.#running);
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
