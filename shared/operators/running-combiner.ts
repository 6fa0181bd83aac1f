import type { AggregateNode } from "../pipeline/topology.ts";
import { partialAggregatesOf } from "../state/columns.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { always } from "../state/stage-state.ts";
import { isExact } from "./aggregates.ts";
import type { StageEnvironment } from "./environment.ts";
import type { Failures } from "./failures.ts";
import type { Keys } from "./keys.ts";
import type { WindowPartial } from "./partials.ts";
import type { Values } from "./values.ts";
import { WindowTable } from "./window-table.ts";

/** The half of a running aggregation before the shuffle: folds values, and their event times, into accumulators per key. Nothing is ever late. */
export class RunningCombiner {
  readonly #node: AggregateNode;
  readonly #running: StageEnvironment["running"];
  readonly #survivesFailures: boolean;
  /** Whether the next sub-range may be added to this one. */
  readonly mayGoOn: boolean;
  readonly #failures: Failures;
  readonly #table: WindowTable;
  #dictionary: KeyColumn | undefined;

  constructor(node: AggregateNode, environment: StageEnvironment, failures: Failures) {
    this.#node = node;
    this.#running = environment.running?.bind(environment);
    this.#survivesFailures = environment.topology.onError.action !== "fail";
    this.mayGoOn = node.expireAfterMs === undefined && Object.values(node.aggregates).every(isExact);
    this.#failures = failures;
    this.#table = new WindowTable(partialAggregatesOf(node), node.expireAfterMs);
  }

  /** @param times event time of each row of the origin */
  add(keys: Keys, input: Values, times: Float64Array): void {
    const { origin, rows } = input;
    const { count } = keys;
    if (count === 0) return;
    this.#running?.(this.#node.id, origin.partition, origin.offset(rows[0]!));
    this.#dictionary = keys.dictionary;
    const own = new Float64Array(count);
    for (let index = 0; index < count; index++) own[index] = times[rows[index]!]!;
    const fail = (index: number, error: unknown) =>
      this.#failures.record(this.#node.id, origin, rows[index]!, error, { key: keys.at(index) });
    if (this.#survivesFailures) this.#table.addEach(keys, input, 0, count, fail, own);
    else this.#table.addAll(keys, input, 0, count, fail, own);
  }

  /** What the sub-range came to, and those that went before without this; the next one begins. */
  finish(): WindowPartial[] {
    const keys = this.#dictionary;
    this.#dictionary = undefined;
    return keys === undefined ? [] : [{ operator: this.#node.id, start: always, entries: this.#table.finish(keys) }];
  }
}
