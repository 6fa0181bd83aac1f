import { setTimeout as sleep } from "node:timers/promises";

/** Longest time until a process is there, or has done what it was begun for. */
export const patienceMs = 8000;

/** Waits until it holds, but not for ever. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await sleep(10))
    if (await holds()) return;
}
