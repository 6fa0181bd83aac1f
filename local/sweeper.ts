/** How often the collector sweeps. */
export interface SweepTimes {
  /** Epochs after which it does, beside the work. */
  readonly epochs: number;
  /**
   * Bytes of input after which it does, too: what busy epochs stage would fill the disk otherwise, and what is removed soon gives its memory in the page cache to what comes next. Such sweeps
   * take a twentieth of the time at most.
   */
  readonly bytes: number;
  /** Milliseconds after which it does anyway, also while the run is idle: outputs are put in order by age, and what is replaced goes by age. */
  readonly ms: number;
}

const usualTimes: SweepTimes = { epochs: 100, bytes: 32 * 1024 ** 2, ms: 60_000 };
/** Of the time that a sweep took: how long there is none after it for the sake of bytes. */
const pause = 20;

/** Runs the collector now and then beside the work of a run, one sweep at a time. */
export class Sweeper {
  readonly #sweep: () => Promise<void>;
  readonly #times: SweepTimes;
  #sweptAt = performance.now();
  #sweptBytes = 0;
  #tookMs = 0;
  #sweeping: Promise<void> | undefined;

  /** @param sweep never throws */
  constructor(sweep: () => Promise<void>, times: SweepTimes = usualTimes) {
    this.#sweep = sweep;
    this.#times = times;
  }

  /** @param bytes of input that the run has read so far */
  committed(epoch: number, bytes: number): void {
    const isMuch = bytes - this.#sweptBytes >= this.#times.bytes && this.#elapsed() >= pause * this.#tookMs;
    if (isMuch) this.#sweptBytes = bytes;
    if (isMuch || epoch % this.#times.epochs === 0) this.#begin();
    else this.look();
  }

  /** Nobody waits for it. */
  look(): void {
    if (this.#elapsed() >= this.#times.ms) this.#begin();
  }

  /** Sweeps what the run has left, and is over when nothing sweeps any more. */
  async finish(): Promise<void> {
    await this.#sweeping;
    await this.#sweep();
  }

  #elapsed(): number {
    return performance.now() - this.#sweptAt;
  }

  #begin(): void {
    if (this.#sweeping !== undefined) return;
    const began = performance.now();
    this.#sweeping = this.#sweep().finally(() => {
      this.#sweptAt = performance.now();
      this.#tookMs = this.#sweptAt - began;
      this.#sweeping = undefined;
    });
  }
}
