import type { Budget, Schedule } from "./choices.ts";
import type { Configuration } from "./configurations.ts";
import { Fingerprint } from "./fingerprint.ts";
import { runSmall, type SmallRun } from "./small-world.ts";

export interface Exploration {
  readonly runs: number;
  /** Distinct states of the world in which something could have been chosen. */
  readonly states: number;
  readonly steps: number;
  /** In which the runs ended. */
  readonly ends: ReadonlySet<number>;
  /** Everything within the budget was explored. */
  readonly isComplete: boolean;
  /** All runs with up to so many preemptions and faults were explored. */
  readonly deviations: number;
  /** The first run that broke something: none with fewer preemptions and faults does. */
  readonly failing: { readonly schedule: Schedule; readonly run: SmallRun } | undefined;
}

interface Options {
  /** Asked after each run: false gives up. */
  readonly goesOn?: (soFar: { runs: number; states: number; waiting: number }) => boolean;
  /** False: every run goes to its end, wherever others have been. */
  readonly isPruned?: boolean;
}

/**
 * Explores a configuration within a budget: stateless model checking (Godefroid, "Model checking for programming languages using VeriSoft", 1997), which runs
 * the real code again for each schedule, cheapest schedules first. A run ends where its state was seen before with at least as much budget left.
 */
export async function explore(
  configuration: Configuration,
  budget: Budget,
  { goesOn = () => true, isPruned = true }: Options = {},
): Promise<Exploration> {
  const fingerprint = new Fingerprint();
  const seen = new Seen(budget);
  const waiting: Schedule[][] = [[{ deviations: [], left: budget }]];
  const cost = ({ left }: Schedule) => budget.preemptions - left.preemptions + budget.faults - left.faults;
  const offer = (schedule: Schedule) => {
    const spent = cost(schedule);
    const alike = waiting[spent] ?? [];
    waiting[spent] = alike;
    alike.push(schedule);
  };
  let [runs, steps] = [0, 0];
  const ends = new Set<number>();
  let deviations = -1;
  const soFar = (isComplete: boolean, failing?: Exploration["failing"]): Exploration => {
    return { runs, states: seen.states, steps, ends, isComplete, deviations, failing };
  };
  for (const alike of waiting) {
    for (let schedule = alike?.pop(); schedule; schedule = alike?.pop()) {
      const { left } = schedule;
      const isNew = (state: number) => seen.isNew(state, left) || !isPruned;
      const run = await runSmall(configuration, schedule, { fingerprint, offer, isNew });
      runs++;
      steps += run.steps;
      if (run.end !== undefined) ends.add(run.end);
      if (run.violation) return soFar(false, { schedule, run });
      const rest = waiting.reduce((sum, one) => sum + (one?.length ?? 0), 0);
      if (!goesOn({ runs, states: seen.states, waiting: rest })) return soFar(rest === 0);
    }
    deviations++;
  }
  return soFar(true);
}

/** The states that were seen, each with what was left of the budget, as bits. */
class Seen {
  readonly #states = new Map<number, number>();
  readonly #faults: number;
  /** Of each rest of the budget: those that are at least as much. */
  readonly #atLeast: number[] = [];

  constructor({ preemptions, faults }: Budget) {
    this.#faults = faults;
    for (let one = 0; one <= preemptions; one++)
      for (let other = 0; other <= faults; other++) {
        let mask = 0;
        for (let more = one; more <= preemptions; more++)
          for (let others = other; others <= faults; others++) mask |= 1 << this.#index(more, others);
        this.#atLeast[this.#index(one, other)] = mask;
      }
  }

  get states(): number {
    return this.#states.size;
  }

  isNew(state: number, { preemptions, faults }: Budget): boolean {
    const known = this.#states.get(state) ?? 0;
    const index = this.#index(preemptions, faults);
    if (known & this.#atLeast[index]!) return false;
    this.#states.set(state, known | (1 << index));
    return true;
  }

  #index(preemptions: number, faults: number): number {
    return preemptions * (this.#faults + 1) + faults;
  }
}
