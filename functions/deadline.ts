import { UserCodeError } from "../shared/errors.ts";

/** Time that is kept for the note of the failure, and its share of a short time-out. */
const reserveMs = 10_000;
const reserveShare = 0.2;

/** A task ran out of time: a signal within this function, which `operate` hands on as it does any foreign error. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** The moment at which a task is given up, some seconds before Lambda would end it without a word. */
export class Deadline implements Disposable {
  /** Rejects with OutOfTime. */
  readonly passed: Promise<never>;
  readonly #endsAt: number;
  readonly #seconds: number;
  readonly #timer: NodeJS.Timeout;

  constructor(remainingMs: number) {
    const ms = remainingMs - Math.min(reserveMs, remainingMs * reserveShare);
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {}); // nobody may wait for it any more
    this.passed = promise;
    this.#endsAt = performance.now() + ms;
    this.#seconds = Math.round(ms / 1000);
    this.#timer = setTimeout(() => reject(new OutOfTime()), ms);
  }

  /** Ends work that goes on after the deadline, or keeps the timer from being heard. @throws OutOfTime */
  check(): void {
    if (performance.now() >= this.#endsAt) throw new OutOfTime();
  }

  error(place: { readonly epoch: number; readonly attempt: number }): UserCodeError {
    return new UserCodeError("task-timeout", `a task did not end within ${this.#seconds} s`, {
      wayOut: "look for a function that never returns, or give `operate` more time or memory",
      place: { epoch: place.epoch, attempt: place.attempt },
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
