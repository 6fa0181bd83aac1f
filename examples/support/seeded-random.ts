/** Chance that a seed repeats: for generated data only, never for anything secret. */
export interface SeededRandom {
  /** In `[0, 1)`. */
  next(): number;
  /** A whole number in `[from, to]`. */
  between(from: number, to: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items. A weight is how many times as likely as one of weight 1 an item is. */
  pick<T>(items: readonly T[], weights?: readonly number[]): T;
  /** How many of the events that happen `mean` times on average happen now (Knuth's algorithm; for means below some hundred). */
  poisson(mean: number): number;
}

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state, the same numbers on every machine. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items, weights) => items[weights === undefined ? between(0, items.length - 1) : pickIndex(weights, next())]!,
    poisson: (mean) => {
      const limit = Math.exp(-mean);
      let count = 0;
      for (let product = next(); product > limit; product *= next()) count++;
      return count;
    },
  };
}

function pickIndex(weights: readonly number[], chance: number): number {
  let rest = chance * weights.reduce((sum, weight) => sum + weight, 0);
  const index = weights.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  return index < 0 ? weights.length - 1 : index;
}
