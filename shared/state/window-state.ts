import type { CellTable } from "./cell-table.ts";
import { type Column, growColumns, type NamedAggregate, newColumns } from "./columns.ts";
import { type Entries, keysOf } from "./entries.ts";
import type { KeyOrder } from "./key-order.ts";
import type { KeyColumn } from "./key-table.ts";
import { OwnKeys, type WindowKeys } from "./window-keys.ts";

/** What a window keeps its keys and accumulators in. */
export interface Room {
  readonly keys: WindowKeys;
  readonly columns: Column[];
}

/** Room for a window whose keys are its own alone. */
function newRoom(aggregates: readonly NamedAggregate[]): Room {
  const keys = new OwnKeys();
  return { keys, columns: newColumns(aggregates, keys.capacity) };
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
  #keys: WindowKeys;
  #columns: Column[];
  /** Keys below this number are in the last snapshot. */
  #saved = 0;
  /** Numbers below it that are marked, and 1 for each of them. */
  #marked: number[] = [];
  #isMarked = new Uint8Array();
  #sorted: KeyOrder | undefined;
  #isGone = false;

  /** @param room may be that of another window of the operator, which is gone */
  constructor(aggregates: readonly NamedAggregate[], operator = "", start = 0, room = newRoom(aggregates)) {
    this.operator = operator;
    this.start = start;
    this.#aggregates = aggregates;
    this.#keys = room.keys;
    this.#columns = room.columns;
    this.#keys.clear();
  }

  /** How many keys it has. */
  get count(): number {
    return this.#keys.count;
  }

  get keys(): KeyColumn {
    return this.#keys.column;
  }

  /** Which of the keys each of its own is, where there are those of other windows among them. */
  get numbers(): Int32Array | undefined {
    return this.cells?.keys.subarray(0, this.count);
  }

  get cells(): CellTable | undefined {
    return this.#keys.cells;
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
    if (this.#sorted?.order.length !== this.changes) this.#sorted = this.#keys.inOrder(keyGroups, this.#changed());
    return this.#sorted!;
  }

  /** All keys, by key group and key. */
  inOrder(keyGroups: number): KeyOrder {
    return this.#keys.inOrder(keyGroups);
  }

  /** Numbers of the keys that changed; undefined: of all. */
  #changed(): Int32Array | undefined {
    if (this.#saved === 0) return undefined;
    const numbers = new Int32Array(this.changes);
    numbers.set(this.#marked);
    for (let number = this.#saved, at = this.#marked.length; at < numbers.length; ) numbers[at++] = number++;
    return numbers;
  }

  /** The numbers of these entries' keys, all of them changed from now on. Those from `count`, as it was before the call, are new and have no accumulators yet. */
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
   * Sets entries as they are in a snapshot, or in another window: all of them, or `chosen` ones.
   *
   * @returns their numbers here
   */
  restore(entries: Entries, chosen?: Int32Array): Int32Array {
    const own = this.locate(chosen === undefined ? entries : { keys: entries.keys, numbers: keysOf(entries, chosen) });
    for (const [at, column] of entries.columns.entries()) copyColumn(this.#columns[at]!, own, column, chosen);
    this.#setSaved();
    return own;
  }

  /**
   * Forgets all keys but those with these numbers, which are its own alone then.
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
    const located = this.#keys.locate(entries);
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
