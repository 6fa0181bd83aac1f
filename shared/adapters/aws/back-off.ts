import { setTimeout as sleep } from "node:timers/promises";

const shortestMs = 10;
const longestMs = 1_000;

/**
 * Waits before another try: a random time up to a bound that doubles with each, so that those who met do not meet again ("full jitter",
 * https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/).
 *
 * @param tries how many there were; at least 1
 */
export async function backOff(tries: number): Promise<void> {
  await sleep(Math.random() * Math.min(longestMs, shortestMs * 2 ** tries));
}
