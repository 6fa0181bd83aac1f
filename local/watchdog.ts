import { setTimeout as sleep } from "node:timers/promises";
import { describeError, EpochflowError, type ErrorDescription } from "../shared/errors.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import type { Message } from "./options.ts";

interface InARow {
  count: number;
  readonly since: number;
}

/** How long a call is held back that failed before: it grows with the number of failures. */
const longestBackOffMs = 5000;
/** What goes wrong again and again is told again after so long. */
const silenceMs = 15_000;

/**
 * On AWS infrastructure that fails is tried again for ever, with an alarm. Here a person is waiting: after some failures in a row, and some time, the run ends, and says
 * why. Nothing is lost: the next run goes on from the ledger.
 */
export class Watchdog {
  /** Why it gave up. */
  error: ErrorDescription | undefined;
  /** Aborted when it gave up. */
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly inARow = new Map<string, InARow>();
  private lastThrown: ErrorDescription | undefined;
  private lastTold = { message: "", at: 0 };
  private readonly attempts: number;
  private readonly patienceMs: number;
  private readonly draining: () => boolean;
  private readonly tell: ((message: Message) => void) | undefined;

  /**
   * @param patienceMs how long infrastructure may fail, at least `attempts` times
   * @param draining the run is to end: what fails then is left to the next
   */
  constructor(
    attempts: number,
    patienceMs: number,
    draining: () => boolean,
    tell: ((message: Message) => void) | undefined,
  ) {
    this.draining = draining;
    this.attempts = attempts;
    this.patienceMs = patienceMs;
    this.tell = tell;
    this.signal = this.controller.signal;
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
      else if (state !== "Operate" && state !== "Decide") await this.failed(state, this.lastThrown);
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
    if (error.kind === "infrastructure") await this.failed("attempt", known);
    else this.warn(`attempt ${row.attempt} of epoch ${epoch} failed`, known);
  }

  private async failed(what: string, error: ErrorDescription): Promise<void> {
    const now = performance.now();
    const row = this.inARow.get(what) ?? { count: 0, since: now };
    row.count++;
    this.inARow.set(what, row);
    const isOver = row.count >= this.attempts && now - row.since >= this.patienceMs;
    if (isOver || this.draining()) return this.end(error);
    this.warn(`${what} failed, trying again`, error);
    if (row.count < this.attempts) return;
    const backOffMs = Math.min(longestBackOffMs, 100 * 2 ** Math.min(10, row.count));
    await sleep(backOffMs, undefined, { signal: this.signal }).catch(() => undefined);
  }

  /** What goes wrong again as it did before is not spelled out again, nor told every time. */
  private warn(text: string, error: ErrorDescription): void {
    const now = performance.now();
    const again = error.message === this.lastTold.message;
    if (again && this.inARow.size > 0 && now - this.lastTold.at < silenceMs && this.patienceMs > 0) return;
    this.lastTold = { message: error.message, at: now };
    this.tell?.({ level: "warning", ...(again ? { text: `${text}: the same error` } : { text, error }) });
  }

  private end(error: ErrorDescription): void {
    this.error ??= error;
    this.controller.abort();
  }
}
