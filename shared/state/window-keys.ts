import { CellTable } from "./cell-table.ts";
import type { Dictionary } from "./dictionary.ts";
import { type Entries, gathered, locateIn } from "./entries.ts";
import { byGroupAndKey, type KeyOrder } from "./key-order.ts";
import { type KeyColumn, KeyTable } from "./key-table.ts";

/** The keys of a window, numbered in order of insertion. */
export interface WindowKeys {
  readonly count: number;
  /** For how many keys there is room. */
  readonly capacity: number;
  /** Where they are: key i is number `cells.keys[i]` of these, or number i. */
  readonly column: KeyColumn;
  readonly cells: CellTable | undefined;
  /** The numbers of these entries' keys. Those that are new are inserted, in order: their numbers begin with what `count` was. */
  locate(entries: Pick<Entries, "keys" | "numbers">): Int32Array;
  /** Numbers of all keys, or of `chosen` ones, by key group and key. */
  inOrder(keyGroups: number, chosen?: Int32Array): KeyOrder;
  /** Forgets all, and keeps its room. */
  clear(): void;
}

/** Keys that are of this window alone. */
export class OwnKeys implements WindowKeys {
  readonly column = new KeyTable();
  readonly cells = undefined;

  get count(): number {
    return this.column.count;
  }

  get capacity(): number {
    return this.column.capacity;
  }

  locate(entries: Pick<Entries, "keys" | "numbers">): Int32Array {
    return locateIn(this.column, entries);
  }

  inOrder(keyGroups: number, chosen?: Int32Array): KeyOrder {
    return byGroupAndKey(this.column, keyGroups, chosen);
  }

  clear(): void {
    this.column.clear();
  }
}

/** Up to so many times as many keys as a window has, their order gives that of the window's; else these are sorted. */
const worthLookingThrough = 4;

/** Keys that a window has in common with others of its operator. */
export class SharedKeys implements WindowKeys {
  readonly cells = new CellTable();
  readonly #dictionary: Dictionary;

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  get count(): number {
    return this.cells.count;
  }

  get capacity(): number {
    return this.cells.capacity;
  }

  get column(): KeyColumn {
    return this.#dictionary.keys;
  }

  locate(entries: Pick<Entries, "keys" | "numbers">): Int32Array {
    const numbers = this.#dictionary.locate(entries);
    this.cells.locateAll(numbers, 0, numbers.length, numbers);
    return numbers;
  }

  inOrder(keyGroups: number, chosen?: Int32Array): KeyOrder {
    if (chosen === undefined && this.column.count <= worthLookingThrough * this.count)
      return this.#picked(this.#dictionary.inOrder(keyGroups));
    const numbers = this.cells.keys.subarray(0, this.count);
    const keys = chosen === undefined ? numbers : gathered(numbers, chosen);
    const { order, starts } = byGroupAndKey(this.column, keyGroups, keys);
    return { order: order.map((key) => this.cells.find(key)), starts };
  }

  /** Of all keys in order, those of this window. */
  #picked(all: KeyOrder): KeyOrder {
    const cells = this.cells.byKey(all.order.length);
    const order = new Int32Array(this.count);
    const starts = new Int32Array(all.starts.length);
    for (let group = 0; group + 1 < starts.length; group++)
      starts[group + 1] = pick(cells, all, group, order, starts[group]!);
    return { order, starts };
  }

  clear(): void {
    this.cells.clear();
  }
}

/** Puts the cells of a group's keys, of those that have one, at `picked[at]` and behind it. Returns where they end. */
function pick(cells: Int32Array, { order, starts }: KeyOrder, group: number, picked: Int32Array, at: number): number {
  let end = at;
  for (let index = starts[group]!; index < starts[group + 1]!; index++) {
    const entry = cells[order[index]!]!;
    if (entry > 0) picked[end++] = entry - 1;
  }
  return end;
}
