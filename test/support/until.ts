import { setTimeout as sleep } from "node:timers/promises";

/** Far more than anything here takes: whoever waits so long waits for a process that has ended, or never began. */
const patienceMs = 120_000;

/** Resolves when it holds. @throws Error that says what did not come, rather than to wait for ever */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const since = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - since;
    if (waitedMs > patienceMs) throw new Error(`waited in vain until ${what}`);
    // What takes long is not asked for all the time: others have work for the processor.
    await sleep(Math.min(2 + waitedMs / 20, 50));
  }
}
