import { type Entries, keyOf } from "../state/entries.ts";
import { decodeKey, keyGroupOf } from "../state/key-codec.ts";
import { always, type OperatorState, type StageState } from "../state/stage-state.ts";
import { counting, countingForm, type MutableCounts, newCounts } from "./counts.ts";
import type { StageEnvironment } from "./environment.ts";
import { forgetExpired, Lifetime } from "./expiry.ts";
import { Failures } from "./failures.ts";
import { dueOf } from "./firing.ts";
import { mergeAll, mergeEach } from "./merge.ts";
import type { Partials } from "./partials.ts";
import { compileResults, type PassResults } from "./result-chain.ts";
import { Results } from "./results.ts";
import { isPast } from "./windows.ts";

/**
 * A stage after a shuffle: merges the partial accumulators of its key groups into state, fires the windows that the watermark passed and the running
 * aggregates that changed, and runs the chain that follows on their rows. `merge` for each sub-range in order of (partition, sub-range), then `fire`, all of it, then the state can be saved.
 */
export class KeyedStage {
  readonly counts: MutableCounts;
  readonly #environment: StageEnvironment;
  readonly #state: StageState;
  readonly #failures: Failures;
  readonly #passes: ReadonlyMap<string, PassResults>;
  readonly #lifetimes: ReadonlyMap<string, Lifetime | undefined>;
  #watermark: number | null = null;

  constructor(environment: StageEnvironment, stage: number, state: StageState) {
    const { topology } = environment;
    this.#environment = environment;
    this.#state = state;
    this.counts = newCounts(topology.stages[stage]!.sinks);
    const write = counting(this.counts.rows, environment.write);
    this.#failures = new Failures(environment, this.counts, write);
    const writeColumns = environment.writeColumns && countingForm(this.counts.rows, environment.writeColumns);
    const ends = { write, running: environment.running?.bind(environment) };
    this.#passes = new Map(
      state.operators.map(({ node }) => [node.id, compileResults(topology, node, ends, this.#failures, writeColumns)]),
    );
    this.#lifetimes = new Map(
      state.operators.map((operator) => [operator.node.id, Lifetime.of(operator, environment.watermark)]),
    );
  }

  /** Takes what a sub-range came to for the key groups of this task; nobody else may use it afterwards. */
  merge(partials: Partials): void {
    for (const partial of partials) {
      const operator = this.#state.operator(partial.operator);
      this.#environment.running?.(partial.operator, "", -1);
      const window = this.#state.window(operator, partial.start);
      const merge = this.#environment.topology.onError.action === "deadLetter" ? mergeEach : mergeAll;
      const fail = (index: number, error: unknown) =>
        this.#fail(operator, partial.start, partial.entries, index, error);
      merge(window, partial.entries, operator.aggregates, fail, this.#lifetimes.get(partial.operator));
    }
  }

  /**
   * The watermark goes to W(n), `after`. Writes rows in the order of (key group, window end, key bytes), whatever the number of tasks (I6), and yields
   * between batches. Windows that can take no more records are then gone, and keys that have expired.
   */
  *fire(after: number | null): Generator<void> {
    this.#watermark = after;
    for (const operator of this.#state.operators) yield* this.#fireOperator(operator, after);
    this.#failures.flush();
  }

  /** Smallest and largest end of the windows that have yet to fire, epoch milliseconds; null: there are none. */
  openWindows(): { nextFire: number | null; openUntil: number | null } {
    let [nextFire, openUntil] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { node, windows } of this.#state.operators) {
      if (node.kind !== "window") continue;
      for (const start of windows.keys()) {
        const end = start + node.window.sizeMs;
        if (isPast(this.#watermark, end, 0)) continue;
        nextFire = Math.min(nextFire, end);
        openUntil = Math.max(openUntil, end);
      }
    }
    return nextFire === Number.POSITIVE_INFINITY ? { nextFire: null, openUntil: null } : { nextFire, openUntil };
  }

  *#fireOperator(operator: OperatorState, after: number | null): Generator<void> {
    const { topology, watermark } = this.#environment;
    const { from, to } = this.#state.groups;
    const firing = dueOf(operator, topology.keyGroups, watermark, after);
    const pass = this.#passes.get(operator.node.id)!;
    const results = new Results(operator);
    for (let group = from; group < to && firing.length > 0; group++) {
      for (const due of firing) {
        const last = due.keys.starts[group + 1]!;
        const { start } = due;
        const fail = (number: number, error: unknown) =>
          this.#fail(operator, start, operator.windows.get(start ?? always)!, number, error);
        for (let next = due.keys.starts[group]!; next < last; ) {
          const end = Math.min(last, next + results.room);
          results.append(due, group, next, end, fail);
          next = end;
          if (results.room > 0) continue;
          pass(results);
          results.clear();
          yield;
        }
      }
    }
    pass(results);
    yield;
    const { node, windows } = operator;
    if (node.kind === "window") {
      for (const start of windows.keys()) {
        if (isPast(after, start + node.window.sizeMs, node.allowedLatenessMs)) this.#state.remove(operator, start);
      }
    } else forgetExpired(this.#state, operator, watermark, after);
  }

  /** What `merge` or `result` threw on an entry. */
  #fail(
    { node, aggregates }: OperatorState,
    windowStart: number | undefined,
    entries: Entries,
    index: number,
    error: unknown,
  ): void {
    const { keys, columns } = entries;
    const key = keyOf(entries, index);
    const group = keyGroupOf(keys.hashes[key]!, this.#environment.topology.keyGroups);
    const accumulators = aggregates.flatMap(({ name, folds }, at) =>
      folds === "values" ? [[name, columns[at]![index]]] : [],
    );
    this.#failures.derived(
      node.id,
      group,
      {
        partition: "",
        offset: -1,
        value: Object.fromEntries(accumulators),
        key: decodeKey(keys.bytes, keys.ends[key]!, keys.ends[key + 1]!),
        ...(node.kind === "window" &&
          windowStart !== undefined && { windowStart, windowEnd: windowStart + node.window.sizeMs }),
      },
      error,
    );
  }
}
