import type { Entries } from "../state/entries.ts";
import { keyGroupOf } from "../state/key-codec.ts";
import { always, type OperatorState, type StageState } from "../state/stage-state.ts";
import type { WindowState } from "../state/window-state.ts";
import { isPast } from "./windows.ts";

/*
 * `expireAfter` of a running aggregation, in event time. In the order of a partition, a record that is at least so much later than the latest of its
 * key begins anew; and a key whose latest record the watermark has left so far behind is over, so that its state can go. Records that are no further behind than
 * `outOfOrder` cannot tell the second from the first, so that cuts into epochs change nothing.
 */

/** Whether a value at this time begins its key anew, whose latest one was at `latest`. */
export function beginsAnew(latest: number, time: number, expireAfterMs: number): boolean {
  return time >= latest + expireAfterMs;
}

/** When keys of an operator are over; undefined if they never are. */
export class Lifetime {
  readonly #expireAfterMs: number;
  readonly #watermark: number | null;
  /** Columns: of the state, and of entries that come to it. */
  readonly #latest: number;
  readonly #first: number;

  /** @param watermark W(n-1), by which it is told what is over when the epoch begins */
  constructor(aggregates: number, expireAfterMs: number, watermark: number | null) {
    this.#latest = aggregates - 1;
    this.#first = aggregates;
    this.#expireAfterMs = expireAfterMs;
    this.#watermark = watermark;
  }

  static of({ node, aggregates }: OperatorState, watermark: number | null): Lifetime | undefined {
    if (node.kind === "window" || node.expireAfterMs === undefined) return undefined;
    return new Lifetime(aggregates.length, node.expireAfterMs, watermark);
  }

  /** Whether entry `index` takes the place of what the key `number` has. To be asked before that is marked as changed: what this epoch made is not over yet. */
  isReplaced(window: WindowState, number: number, { columns }: Entries, index: number): boolean {
    const latest = window.columns[this.#latest]![number] as number;
    const isOver = !window.isChanged(number) && isPast(this.#watermark, latest, this.#expireAfterMs);
    return isOver || beginsAnew(latest, columns[this.#first]![index] as number, this.#expireAfterMs);
  }

  /** For entries that are merged column by column: what `isReplaced` will have said of each. Marks them, and brings their latest times up to date. */
  replaced(window: WindowState, numbers: Int32Array, known: number, entries: Entries): Uint8Array {
    const replaced = new Uint8Array(numbers.length);
    const [own, other] = [window.columns[this.#latest]!, entries.columns[this.#latest]!];
    for (let index = 0, newest = known; index < numbers.length; index++) {
      const number = numbers[index]!;
      const isNew = number === newest; // new keys are numbered as they come; one may come again
      if (isNew) newest++;
      const takes = isNew || this.isReplaced(window, number, entries, index);
      window.mark(number);
      if (takes) replaced[index] = 1;
      own[number] = takes ? other[index] : Math.max(own[number] as number, other[index] as number);
    }
    return replaced;
  }
}

/**
 * Forgets keys that are over when the watermark goes from W(n-1), `before`, to W(n), `after`, in those key groups of which they are half or more, which are then written whole: so each
 * key costs a constant to forget, and state is at most twice as large as what is alive in it. All keys are looked at only when the watermark comes to another eighth of
 * `expireAfter`: so an epoch that changes little costs little. Until they are forgotten nothing sees them but `Lifetime`.
 */
export function forgetExpired(
  state: StageState,
  { node, aggregates, windows }: OperatorState,
  before: number | null,
  after: number | null,
): void {
  const window = windows.get(always);
  if (node.kind === "window" || node.expireAfterMs === undefined || after === null || window === undefined) return;
  const { expireAfterMs } = node;
  const eighth = (time: number) => Math.floor((time * 8) / expireAfterMs);
  if (before !== null && eighth(before) === eighth(after)) return;
  const { keyGroups } = state.topology;
  const latest = window.columns[aggregates.length - 1]!;
  const isOver = (number: number) => isPast(after, latest[number] as number, expireAfterMs);
  const { count, hashes } = window.keys;
  const surplus = new Int32Array(keyGroups); // of keys that are over
  const any = new Uint8Array(keyGroups);
  for (let number = 0; number < count; number++) {
    const group = keyGroupOf(hashes[number]!, keyGroups);
    if (isOver(number)) any[group] = 1;
    surplus[group]! += isOver(number) ? 1 : -1;
  }
  const purged = any.map((has, group) => (has === 1 && surplus[group]! >= 0 ? 1 : 0));
  if (!purged.includes(1)) return;
  const kept = new Int32Array(count);
  let left = 0;
  for (let number = 0; number < count; number++) {
    if (purged[keyGroupOf(hashes[number]!, keyGroups)] === 0 || !isOver(number)) kept[left++] = number;
  }
  state.purge(window, kept.subarray(0, left), purged);
}
