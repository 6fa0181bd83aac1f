/** How often the collector sweeps. */
export interface SweepTimes {
  /** Epochs after which it does, beside the work. */
  readonly epochs: number;
  /** Milliseconds after which it does anyway, also while the run is idle: outputs are put in order by age, and what is replaced goes by age. */
  readonly ms: number;
}

const usualTimes: SweepTimes = { epochs: 100, ms: 60_000 };

/** Runs the collector now and then beside the work of a run, one sweep at a time. */
export class Sweeper {
  readonly #sweep: () => Promise<void>;
  readonly #times: SweepTimes;
  #sweptAt = performance.now();
  #sweeping: Promise<void> | undefined;

  /** @param sweep never throws */
  constructor(sweep: () => Promise<void>, times: SweepTimes = usualTimes) {
    this.#sweep = sweep;
    this.#times = times;
  }

  decided(epoch: number): void {
    if (epoch % this.#times.epochs === 0) this.#begin();
    else this.look();
  }

  /** Nobody waits for it. */
  look(): void {
    if (performance.now() - this.#sweptAt >= this.#times.ms) this.#begin();
  }

  /** Sweeps what the run has left, and is over when nothing sweeps any more. */
  async finish(): Promise<void> {
    await this.#sweeping;
    await this.#sweep();
  }

  #begin(): void {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweptAt = performance.now();
      this.#sweeping = undefined;
    });
  }
}
