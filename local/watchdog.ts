import { describeError, EpochflowError, type ErrorDescription } from "../shared/errors.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import type { Message } from "./options.ts";

/**
 * On AWS infrastructure that fails is tried again for ever, with an alarm. Here a person is waiting: after some failures in a row the run ends, and says
 * why. Nothing is lost: the next run goes on from the ledger.
 */
export class Watchdog {
  /** Why it gave up. */
  error: ErrorDescription | undefined;
  readonly gaveUp: Promise<void>;
  private readonly giveUp: () => void;
  private readonly inARow = new Map<string, number>();
  private lastThrown: ErrorDescription | undefined;
  private lastTold: string | undefined;
  private readonly attempts: number;
  private readonly tell: ((message: Message) => void) | undefined;

  constructor(attempts: number, tell: ((message: Message) => void) | undefined) {
    this.attempts = attempts;
    this.tell = tell;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gaveUp = promise;
    this.giveUp = resolve;
  }

  /** Calls a function of the state machine, and counts its failures in a row. Attempts of an epoch are counted by `aborted`. */
  async watch<T>(state: string, call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      if (state !== "Abort") this.inARow.delete(state);
      if (state === "Decide" && (answer as { outcome?: string }).outcome === "decided") this.inARow.delete("attempt");
      return answer;
    } catch (error) {
      this.lastThrown = describeError(error);
      const final = error instanceof EpochflowError && error.kind !== "infrastructure";
      if (final) this.end(this.lastThrown);
      else if (state !== "Operate" && state !== "Decide") this.failed(state, this.lastThrown);
      throw error;
    }
  }

  /** An attempt was aborted. What the ledger's row says of it counts for more than what was thrown. */
  async aborted(ledger: Ledger, epoch: number): Promise<void> {
    const row = await ledger.epoch(epoch);
    if (row?.status !== "fenced" || !row.failure) return;
    const { error } = row.failure;
    const known = error.code === "attempt-failed" ? (this.lastThrown ?? error) : error;
    this.lastThrown = undefined;
    if (error.kind === "infrastructure") this.failed("attempt", known);
    else this.warn(`attempt ${row.attempt} of epoch ${epoch} failed`, known);
  }

  private failed(what: string, error: ErrorDescription): void {
    const count = (this.inARow.get(what) ?? 0) + 1;
    this.inARow.set(what, count);
    if (count >= this.attempts) this.end(error);
    else this.warn(`${what} failed, trying again`, error);
  }

  /** What goes wrong again as it did before is not spelled out again. */
  private warn(text: string, error: ErrorDescription): void {
    const again = error.message === this.lastTold;
    this.lastTold = error.message;
    this.tell?.({ level: "warning", ...(again ? { text: `${text}: the same error` } : { text, error }) });
  }

  private end(error: ErrorDescription): void {
    this.error ??= error;
    this.giveUp();
  }
}
