import { setTimeout as sleep } from "node:timers/promises";
import { LossError } from "../../errors.ts";

/** While a rotation renames and copies, a file may be nowhere for an instant: before that is a loss, it is looked for again, after so many milliseconds. */
const looksAgainMs = [20, 100, 300];

/** What `look` gives, once what may pass by itself has passed. */
export async function lookingAgain<T>(look: () => Promise<T>): Promise<T> {
  for (const delayMs of looksAgainMs) {
    try {
      return await look();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(delayMs);
    }
  }
  return await look();
}

function isPassing(error: unknown): boolean {
  if (error instanceof LossError) return ["input-vanished", "input-replaced", "input-shrank"].includes(error.code);
  return (error as { code?: unknown }).code === "input-moving";
}
