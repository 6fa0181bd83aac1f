import type { LateRow, WindowNode } from "../pipeline/topology.ts";
import { aggregatesOf, type NamedAggregate } from "../state/columns.ts";
import type { KeyColumn } from "../state/key-table.ts";
import { isExact } from "./aggregates.ts";
import type { MutableCounts } from "./counts.ts";
import type { StageEnvironment, WriteRows } from "./environment.ts";
import type { Failures } from "./failures.ts";
import { kernelOf } from "./kernels.ts";
import type { Keys } from "./keys.ts";
import type { WindowPartial } from "./partials.ts";
import type { Values } from "./values.ts";
import { WindowTable } from "./window-table.ts";
import { isPast, windowsAt } from "./windows.ts";

/** Windows that may wait for the next sub-range: each may take some tens of kilobytes. */
const mostWaiting = 256;

/**
 * The half of a window node before the shuffle: assigns windows, sorts out what is late, and folds the rest into accumulators per window
 * and key. Every (value, window) pair ends in a late row (or only their count), in an accumulator, or as a failure.
 */
export class Combiner {
  readonly #node: WindowNode;
  readonly #aggregates: readonly NamedAggregate[];
  readonly #watermark: number | null;
  readonly #running: StageEnvironment["running"];
  /** A value may fail, and the others live on. */
  readonly #addsEach: boolean;
  readonly #isExact: boolean;
  readonly #counts: MutableCounts;
  readonly #failures: Failures;
  readonly #write: WriteRows;
  /** By window start. */
  #tables = new Map<number, WindowTable>();
  /** Empty ones. */
  readonly #spare: WindowTable[] = [];
  #dictionary: KeyColumn | undefined;

  constructor(
    node: WindowNode,
    environment: StageEnvironment,
    counts: MutableCounts,
    failures: Failures,
    write: WriteRows,
  ) {
    this.#node = node;
    this.#aggregates = aggregatesOf(node);
    this.#watermark = environment.watermark;
    this.#running = environment.running?.bind(environment);
    const canFail = this.#aggregates.some(({ aggregate }) => kernelOf(aggregate) === undefined);
    this.#addsEach = canFail && environment.topology.onError.action !== "fail";
    this.#isExact = this.#aggregates.every(({ aggregate }) => isExact(aggregate));
    this.#counts = counts;
    this.#failures = failures;
    this.#write = write;
  }

  /** @param times event time of each row of the origin */
  add(keys: Keys, input: Values, times: Float64Array): void {
    const { origin, rows } = input;
    const { window } = this.#node;
    const { count } = keys;
    this.#dictionary = keys.dictionary;
    if (count > 0) this.#running?.(this.#node.id, origin.partition, origin.offset(rows[0]!));
    for (let from = 0; from < count; ) {
      const { first, last, from: earliest, until } = windowsAt(window, times[rows[from]!]!);
      const to = endOfRun(times, rows, from + 1, count, earliest, until);
      let start = first;
      while (start <= last && this.#isLate(start)) start += window.everyMs;
      if (start > first) this.#writeLate(keys, input, times, from, to, first, start);
      for (; start <= last; start += window.everyMs) this.#fold(keys, input, from, to, start);
      from = to;
    }
  }

  /** Whether the next sub-range may be added to this one. */
  get mayGoOn(): boolean {
    return this.#isExact && this.#tables.size <= mostWaiting;
  }

  /** What the sub-range came to, by window start, and those that went before without this; the next one begins. */
  finish(): WindowPartial[] {
    const tables = [...this.#tables].sort(([a], [b]) => a - b);
    this.#tables = new Map();
    return tables.map(([start, table]) => {
      this.#spare.push(table);
      return { operator: this.#node.id, start, entries: table.finish(this.#dictionary!) };
    });
  }

  #isLate(start: number): boolean {
    return isPast(this.#watermark, start + this.#node.window.sizeMs, this.#node.allowedLatenessMs);
  }

  #fold(keys: Keys, input: Values, from: number, to: number, start: number): void {
    let table = this.#tables.get(start);
    if (table === undefined) {
      table = this.#spare.pop() ?? new WindowTable(this.#aggregates);
      this.#tables.set(start, table);
    }
    const { origin, rows } = input;
    const windowEnd = start + this.#node.window.sizeMs;
    const fail = (index: number, error: unknown) =>
      this.#failures.record(this.#node.id, origin, rows[index]!, error, {
        key: keys.at(index),
        windowStart: start,
        windowEnd,
      });
    if (this.#addsEach) table.addEach(keys, input, from, to, fail);
    else table.addAll(keys, input, from, to, fail);
  }

  /** Values `[from, to)` missed the windows `first`, … before `before`: value by value, so that the order is that of the records. */
  #writeLate(
    keys: Keys,
    input: Values,
    times: Float64Array,
    from: number,
    to: number,
    first: number,
    before: number,
  ): void {
    const { late, window } = this.#node;
    const missed = (before - first) / window.everyMs;
    this.#counts.late += missed * (to - from);
    if (late === undefined) return;
    const { origin, values, rows } = input;
    const lateRows: LateRow[] = [];
    for (let index = from; index < to; index++) {
      for (let windowStart = first; windowStart < before; windowStart += window.everyMs) {
        lateRows.push({
          key: keys.at(index),
          value: values[index],
          timestamp: times[rows[index]!]!,
          windowStart,
          windowEnd: windowStart + window.sizeMs,
        });
      }
    }
    const timeOf = (row: number) => lateRows[row]!.timestamp;
    this.#write(late, lateRows, timeOf, (refused, error) => {
      const { key, windowStart, windowEnd } = lateRows[refused]!;
      const index = from + Math.floor(refused / missed);
      this.#failures.record(late, origin, rows[index]!, error, { key, windowStart, windowEnd });
    });
  }
}

/** The first of `[from, to)` whose time is not in `[earliest, until)`. */
function endOfRun(
  times: Float64Array,
  rows: Int32Array,
  from: number,
  to: number,
  earliest: number,
  until: number,
): number {
  for (let index = from; index < to; index++) {
    const time = times[rows[index]!]!;
    if (time < earliest || time >= until) return index;
  }
  return to;
}
