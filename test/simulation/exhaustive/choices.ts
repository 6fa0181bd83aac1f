/** What a deviation from the undisturbed run costs of the budget. */
export type Cost = "free" | "preemption" | "fault";

export interface Alternative {
  readonly label: string;
  readonly cost: Cost;
}

/** How many alternatives of each kind one run may take. */
export interface Budget {
  readonly preemptions: number;
  readonly faults: number;
}

/** At the `at`-th choice of a run, another alternative than the first. */
export interface Deviation {
  readonly at: number;
  readonly choice: number;
}

/** A run, by where it differs from the one in which nothing does. `left`: what it may still cost. */
export interface Schedule {
  readonly deviations: readonly Deviation[];
  readonly left: Budget;
}

/**
 * The choices of one run: those of its schedule, and then always the first alternative. Whatever else could have been chosen after the schedule's last
 * deviation, and is within the budget, is a schedule of its own.
 */
export class Choices {
  readonly #schedule: Schedule;
  readonly #offer: (schedule: Schedule) => void;
  /** What was chosen, for people. */
  readonly taken: string[] = [];
  #number = 0;
  #done = 0;
  #closed = false;

  constructor(schedule: Schedule, offer: (schedule: Schedule) => void) {
    this.#schedule = schedule;
    this.#offer = offer;
  }

  /** Everything that the schedule says has happened, and there is more to choose: what comes now may not have been seen before. */
  get isFresh(): boolean {
    return !this.#closed && this.#done === this.#schedule.deviations.length;
  }

  /** From here on always the first. */
  close(): void {
    this.#closed = true;
  }

  /** Index of the alternative that is taken. */
  choose(alternatives: readonly Alternative[]): number {
    if (this.#closed || alternatives.length < 2) return 0;
    const at = this.#number++;
    const { deviations } = this.#schedule;
    const deviation = deviations[this.#done];
    if (deviation?.at === at) {
      this.#done++;
      this.taken.push(alternatives[deviation.choice]!.label);
      return deviation.choice;
    }
    if (!deviation) this.#offerOthers(at, alternatives);
    return 0;
  }

  #offerOthers(at: number, alternatives: readonly Alternative[]): void {
    const { deviations, left } = this.#schedule;
    for (const [choice, { cost }] of alternatives.entries()) {
      const preemptions = left.preemptions - (cost === "preemption" ? 1 : 0);
      const faults = left.faults - (cost === "fault" ? 1 : 0);
      if (choice === 0 || preemptions < 0 || faults < 0) continue;
      this.#offer({ deviations: [...deviations, { at, choice }], left: { preemptions, faults } });
    }
  }
}
