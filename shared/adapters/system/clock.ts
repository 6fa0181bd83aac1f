import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** Longer timers fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms) {
    for (let left = ms; left > 0; left -= longestTimerMs) await setTimeout(Math.min(left, longestTimerMs));
  },
};
