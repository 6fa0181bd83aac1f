import type { EpochRow } from "../shared/epoch/epoch.ts";

/** Epochs after which a number of threads has shown what it can do: the first ones load modules, compile, and read state. */
const fewestEpochs = 3;
/** A rate is still rising if it is so many times the one before. */
const rising = 1.1;
/** All threads must be so many times as fast as one to be worth their memory and processor time. */
const worthwhile = 1.1;
/** Epochs after which it is tried again: the input may have changed, or who else uses the machine. */
const epochsOfTrust = 60;

/** What so many threads did. */
interface Shown {
  epochs: number;
  /** Of the last epoch, and of the one before: bytes a millisecond. */
  rate: number;
  before: number;
}

/**
 * How many threads share the epochs of a backlog: one, or all. More are not always faster: they share the processors with the broker, the disk, the compiler and the garbage collector, each
 * warms up by itself, and what is shuffled between them costs. So a run begins with one. Where that has enough to do, it tries all of them once the one is warm, or takes long, and goes on
 * with what was faster. Nothing but speed depends on it.
 */
export class ThreadChoice {
  readonly #intervalMs: number;
  readonly #prepare: () => void;
  readonly #shown = new Map<number, Shown>();
  #lastSeen = 0;
  #current: "one" | "all" = "one";
  #isPrepared = false;
  #epochsOnOne = 0;

  /** @param prepare called an epoch before all threads are used for the first time */
  constructor(intervalMs: number, prepare: () => void = () => {}) {
    this.#intervalMs = intervalMs;
    this.#prepare = prepare;
  }

  /** @param most what the next epoch is worth, and there are threads for @param last the last decided epoch */
  choose(most: number, last: EpochRow | undefined): number {
    if (most === 1) return 1;
    const tookMs = this.#note(last);
    if (this.#current === "one" && this.#mayTryAll(most, tookMs)) this.#tryAll();
    else if (this.#current === "all" && this.#isSlower(most)) {
      this.#current = "one";
      this.#epochsOnOne = 0;
      this.#shown.delete(1);
    }
    return this.#current === "all" ? most : 1;
  }

  /** Returns how long the last epoch took, if it is a new one that was large enough to tell. */
  #note(last: EpochRow | undefined): number {
    if (last?.status !== "decided" || last.epoch <= this.#lastSeen || last.decision.kind !== "process") return 0;
    this.#lastSeen = last.epoch;
    const tasks = last.attemptPlan.tasks[0] ?? 1;
    const tookMs = Math.max(1, last.decision.decidedAt - last.plannedAt);
    const shown = this.#shown.get(tasks) ?? { epochs: 0, rate: 0, before: 0 };
    this.#shown.set(tasks, {
      epochs: shown.epochs + 1,
      rate: last.decision.counts.bytes / tookMs,
      before: shown.rate,
    });
    if (tasks === 1) this.#epochsOnOne++;
    return tookMs;
  }

  #mayTryAll(most: number, tookMs: number): boolean {
    if (tookMs > 2 * this.#intervalMs) return true;
    if (tookMs < this.#intervalMs / 2) return false; // one is enough
    const hasFailed = this.#shown.has(most) && this.#epochsOnOne < epochsOfTrust;
    return !hasFailed && isSettled(this.#shown.get(1));
  }

  /** An epoch later, when they are ready. */
  #tryAll(): void {
    if (this.#isPrepared) this.#current = "all";
    else this.#prepare();
    this.#isPrepared = true;
  }

  #isSlower(most: number): boolean {
    const [one, all] = [this.#shown.get(1), this.#shown.get(most)];
    return one !== undefined && isSettled(all) && all!.rate < worthwhile * one.rate;
  }
}

function isSettled(shown: Shown | undefined): boolean {
  return shown !== undefined && shown.epochs >= fewestEpochs && shown.rate < rising * shown.before;
}
