/**
 * Chance by name: a draw depends on the seed and the name of what is drawn, and on nothing drawn before. So when a shrinker takes a fault out of a run,
 * the rest of the run keeps its luck, as far as it still happens.
 */
export class Chance {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = mix(seed ^ 0x9e3779b9);
  }

  /** In `[0, 1)`. */
  of(name: string): number {
    return this.#bits(name) / 2 ** 32;
  }

  /** A whole number in `[0, limit)`. */
  below(name: string, limit: number): number {
    return Math.floor(this.of(name) * limit);
  }

  pick<T>(name: string, choices: readonly T[]): T {
    return choices[this.below(name, choices.length)]!;
  }

  /** Between `least` and `most`, each order of magnitude alike. */
  magnitude(name: string, least: number, most: number): number {
    return least * (most / least) ** this.of(name);
  }

  /** Lower-case letters and digits, as a nonce has them. */
  letters(name: string): string {
    return [0, 1, 2].map((part) => this.#bits(`${name}/${part}`).toString(36).padStart(7, "0")).join("");
  }

  /** FNV-1a, then a finaliser, since FNV alone does not spread the last characters. */
  #bits(name: string): number {
    let hash = this.#seed;
    for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    return mix(hash);
  }
}

/** The finaliser of MurmurHash3 (Austin Appleby, 2011). */
function mix(bits: number): number {
  let mixed = bits ^ (bits >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
