import type { Clock } from "../../../ports/clock.ts";

/** How long what was measured holds. */
const freshMs = 10_000;

/** Bytes of values that an offset is worth: a log does not say how many lie between two offsets, so a look at some of them stands for the others. */
export class SizeEstimate {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly bytesPerOffset: number; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param sample measures; called where nothing is known, or what is known is old: then both count half */
  async bytesPerOffset(partition: string, sample: () => Promise<number>): Promise<number> {
    const now = this.#clock.now();
    const known = this.#known.get(partition);
    if (known !== undefined && now - known.at < freshMs) return known.bytesPerOffset;
    const sampled = await sample();
    const bytesPerOffset = known === undefined ? sampled : (known.bytesPerOffset + sampled) / 2;
    this.#known.set(partition, { bytesPerOffset, at: now });
    return bytesPerOffset;
  }
}
