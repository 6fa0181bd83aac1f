import type { Random } from "../../ports/random.ts";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** The same chance for the same seed. Mulberry32 (Tommy Ettinger, 2017): small and fast, for tests only. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  nonce(): string {
    return Array.from({ length: 20 }, () => letters[this.below(letters.length)]).join("");
  }

  /** A whole number in `[0, limit)`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}
