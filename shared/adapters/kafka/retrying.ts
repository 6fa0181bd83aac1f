import { isTransient } from "./broker-errors.ts";
import { Deadline } from "./protocol/deadline.ts";

const firstPauseMs = 20;
const longestPauseMs = 1_000;

/**
 * Makes the call again and again, with pauses that double, until it works, throws an error that is not `retryable`, or a pause would pass the deadline: then
 * throws the last error. For calls that may be made twice.
 *
 * @param retryable by default: what the same call may not meet again a moment later
 */
export async function retrying<T>(
  call: () => Promise<T>,
  options: {
    readonly timeoutMs: number;
    readonly retryable?: (error: unknown) => boolean;
    readonly longestPauseMs?: number;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<T> {
  const { timeoutMs, retryable = isTransient, signal } = options;
  const deadline = new Deadline(timeoutMs, signal);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, options.longestPauseMs ?? longestPauseMs)) {
    try {
      return await call();
    } catch (error) {
      // Others who failed at the same moment do not come back at the same moment.
      const jitteredMs = pauseMs * (0.5 + Math.random());
      if (!retryable(error) || jitteredMs >= deadline.leftMs) throw error;
      await deadline.sleep(jitteredMs, () => error);
    }
  }
}
