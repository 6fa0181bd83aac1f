import type { Clock } from "../../ports/clock.ts";

/** A clock that stands still until it is told otherwise. */
export class ManualClock implements Clock {
  #now: number;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    const until = this.#now + Math.max(0, ms);
    return new Promise((wake) => {
      if (ms <= 0) wake();
      else this.#sleepers.push({ until, wake });
    });
  }

  /** Lets time pass, and wakes whoever has slept long enough, the earliest first. */
  advance(ms: number): void {
    this.#now += ms;
    const due = this.#sleepers.filter((one) => one.until <= this.#now).sort((one, other) => one.until - other.until);
    this.#sleepers = this.#sleepers.filter((one) => one.until > this.#now);
    for (const { wake } of due) wake();
  }
}
