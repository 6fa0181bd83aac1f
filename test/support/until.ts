import { setTimeout as sleep } from "node:timers/promises";

/** Far more than anything here takes: whoever waits so long waits for a process that has ended, or never began. */
const patienceMs = 120_000;

/** Resolves when it holds. @throws Error that says what did not come, rather than to wait for ever */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const giveUpAt = performance.now() + patienceMs; !(await holds()); await sleep(2))
    if (performance.now() > giveUpAt) throw new Error(`waited in vain until ${what}`);
}
