import type { Partials } from "../operators/partials.ts";
import type { GroupRange } from "../state/stage-state.ts";

/**
 * The way of partial accumulators from the tasks of one stage to those of the next. They need only live as long as the attempt: what was lost is an
 * infrastructure error, and the next attempt makes it anew.
 */
export interface Shuffle {
  /**
   * @param key of this invocation alone; the tasks of the next stage take it from its ack
   * @param partials what each sub-range came to, in order; nobody may use it afterwards
   * @param tasks key groups of the tasks of the next stage
   */
  put(key: string, partials: readonly Partials[], tasks: readonly GroupRange[]): Promise<void>;
  /**
   * What a task gets: one element for each sub-range, in order, empty ones included. The same however often it is asked for.
   *
   * @throws InfrastructureError `shuffle-unreadable` if it is missing or damaged
   */
  get(key: string, groups: GroupRange): Promise<readonly Partials[]>;
}
