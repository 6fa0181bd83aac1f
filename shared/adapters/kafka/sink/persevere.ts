import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";

const firstPauseMs = 20;
const longestPauseMs = 2_000;

export interface Perseverance {
  readonly clock: Clock;
  readonly random: Random;
  /** No attempt begins later than so many milliseconds after the first, and one that is under way then is late. */
  readonly patienceMs: number;
  isWorthAnotherTry(error: unknown): boolean;
}

/**
 * Tries until it works, or it cannot, or patience is at its end; then throws what the last attempt has thrown. Pauses grow, and are random: two that fence each
 * other must not go on in step.
 */
export async function persevere<T>(
  { clock, random, patienceMs, isWorthAnotherTry }: Perseverance,
  attempt: (tries: number, isLate: () => boolean) => Promise<T>,
): Promise<T> {
  const giveUpAt = clock.now() + patienceMs;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt(tries, () => clock.now() > giveUpAt);
    } catch (error) {
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** tries) * (0.5 + fraction(random));
      if (!isWorthAnotherTry(error) || clock.now() + pauseMs > giveUpAt) throw error;
      await clock.sleep(pauseMs);
    }
  }
}

/** At least 0, below 1. */
const fraction = (random: Random): number => Number.parseInt(random.nonce().slice(-8), 36) / 36 ** 8;
