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

  /**
   * What is known is good enough to go on with: nobody waits for another look at it.
   *
   * @param sample measures; called where nothing is known, or what is known is old: then both count half, from the next question on
   */
  async bytesPerOffset(partition: string, sample: () => Promise<number>): Promise<number> {
    const now = this.#clock.now();
    const known = this.#known.get(partition);
    const keep = (bytesPerOffset: number) => void this.#known.set(partition, { bytesPerOffset, at: now });
    if (known === undefined) {
      const sampled = await sample();
      keep(sampled);
      return sampled;
    }
    if (now - known.at >= freshMs) {
      keep(known.bytesPerOffset);
      sample().then(
        (sampled) => keep((known.bytesPerOffset + sampled) / 2),
        () => {}, // whoever reads meets what is the matter
      );
    }
    return known.bytesPerOffset;
  }
}
