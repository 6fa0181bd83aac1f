import { type Column, growColumns, type NamedAggregate, newColumns } from "./columns.ts";
import { countOf, type Entries } from "./entries.ts";
import { byGroupAndKey, type KeyOrder } from "./key-order.ts";
import { KeyTable } from "./key-table.ts";

/** What a window keeps its keys and accumulators in. */
export interface Room {
  readonly keys: KeyTable;
  readonly columns: Column[];
}

/**
 * The merged accumulators of one window of one operator, for the keys of one task. Knows what changed since the last snapshot: keys that it has not, and those
 * that are marked. So nothing is kept of what changed in a window that no snapshot has.
 */
export class WindowState implements Entries {
  /** Id of the operator, and the window's start, epoch milliseconds. */
  readonly operator: string;
  readonly start: number;
  readonly #aggregates: readonly NamedAggregate[];
  #keys: KeyTable;
  #columns: Column[];
  /** Keys below this number are in the last snapshot. */
  #saved = 0;
  /** Numbers below it that are marked, and 1 for each of them. */
  #marked: number[] = [];
  #isMarked = new Uint8Array();
  #sorted: KeyOrder | undefined;
  #isGone = false;

  /** @param room that of another window of the operator, which is gone */
  constructor(aggregates: readonly NamedAggregate[], operator = "", start = 0, room?: Room) {
    this.operator = operator;
    this.start = start;
    this.#aggregates = aggregates;
    this.#keys = room?.keys ?? new KeyTable();
    this.#keys.clear();
    this.#columns = room?.columns ?? newColumns(aggregates, this.#keys.capacity);
  }

  get keys(): KeyTable {
    return this.#keys;
  }

  get columns(): Column[] {
    return this.#columns;
  }

  /** Whether it was discarded. What snapshots have of it still refers to it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** How many keys changed. */
  get changes(): number {
    return this.#marked.length + this.#keys.count - this.#saved;
  }

  isChanged(number: number): boolean {
    return number >= this.#saved || this.#isMarked[number] === 1;
  }

  /** The keys that changed, by key group and key. Of the same changes it is sorted once, for firing and for the snapshot. */
  changedInOrder(keyGroups: number): KeyOrder {
    // Keys only come to those that changed: as many are the same.
    if (this.#sorted?.order.length !== this.changes)
      this.#sorted = byGroupAndKey(this.#keys, keyGroups, this.#changed());
    return this.#sorted!;
  }

  /** Numbers of the keys that changed; undefined: of all. */
  #changed(): Int32Array | undefined {
    if (this.#saved === 0) return undefined;
    const numbers = new Int32Array(this.changes);
    numbers.set(this.#marked);
    for (let number = this.#saved, at = this.#marked.length; at < numbers.length; ) numbers[at++] = number++;
    return numbers;
  }

  /** The numbers of these entries' keys, all of them changed from now on. Those from `keys.count`, as it was before the call, are new and have no accumulators yet. */
  touch(entries: Entries): Int32Array {
    const numbers = this.locate(entries);
    if (this.#saved > 0) for (let index = 0; index < numbers.length; index++) this.mark(numbers[index]!);
    return numbers;
  }

  /** The key with this number is changed from now on. */
  mark(number: number): void {
    if (this.isChanged(number)) return;
    this.#isMarked[number] = 1;
    this.#marked.push(number);
  }

  /**
   * Sets entries as they are in a snapshot, or in another table: all of them, or those with these numbers.
   *
   * @returns their numbers here
   */
  restore({ keys, columns }: Entries, numbers?: Int32Array): Int32Array {
    const own = this.locate({ keys, ...(numbers && { numbers }) });
    for (const [at, column] of columns.entries()) copyColumn(this.#columns[at]!, own, column, numbers);
    this.#setSaved();
    return own;
  }

  /**
   * Forgets all keys but those with these numbers.
   *
   * @returns by the number that a key had, the one that it has now; -1: it is gone
   */
  keepOnly(numbers: Int32Array): Int32Array {
    const kept = new WindowState(this.#aggregates);
    const after = kept.restore(this, numbers);
    const renumbered = new Int32Array(this.#keys.count).fill(-1);
    for (let index = 0; index < numbers.length; index++) renumbered[numbers[index]!] = after[index]!;
    for (let number = 0; number < renumbered.length; number++)
      if (renumbered[number]! >= 0 && this.isChanged(number)) kept.mark(renumbered[number]!);
    this.#takeOver(kept);
    return renumbered;
  }

  /** All is in a snapshot now. */
  markSaved(): void {
    for (const number of this.#marked) this.#isMarked[number] = 0;
    this.#marked = [];
    this.#sorted = undefined;
    this.#setSaved();
  }

  /** It is no more: lets go of its room, which nobody looks at any more. */
  discard(): Room {
    const room = { keys: this.#keys, columns: this.#columns };
    this.#isGone = true;
    this.#takeOver(new WindowState([]));
    return room;
  }

  /** The numbers of these entries' keys, as `touch` gives them; whoever changes one marks it. */
  locate(entries: Pick<Entries, "keys" | "numbers">): Int32Array {
    const { bytes, ends, hashes } = entries.keys;
    const located = new Int32Array(countOf(entries));
    this.#keys.reserve(located.length);
    const inPlace = { hashes, bytes, starts: ends, ends: ends.subarray(1) };
    this.#keys.locateAll(inPlace, 0, located.length, located, entries.numbers);
    growColumns(this.#columns, this.#keys.capacity);
    return located;
  }

  #setSaved(): void {
    this.#saved = this.#keys.count;
    if (this.#isMarked.length >= this.#saved) return;
    const larger = new Uint8Array(this.#keys.capacity);
    larger.set(this.#isMarked);
    this.#isMarked = larger;
  }

  #takeOver(other: WindowState): void {
    this.#keys = other.#keys;
    this.#columns = other.#columns;
    this.#saved = other.#saved;
    this.#marked = other.#marked;
    this.#isMarked = other.#isMarked;
    this.#sorted = undefined;
  }
}

function copyColumn(to: Column, at: Int32Array, from: Column, numbers: Int32Array | undefined): void {
  if (to instanceof Float64Array && from instanceof Float64Array) {
    if (numbers === undefined) for (let index = 0; index < at.length; index++) to[at[index]!] = from[index]!;
    else for (let index = 0; index < at.length; index++) to[at[index]!] = from[numbers[index]!]!;
  } else {
    for (let index = 0; index < at.length; index++)
      to[at[index]!] = from[numbers === undefined ? index : numbers[index]!];
  }
}
