import type { CellTable } from "./cell-table.ts";
import { type Entries, gathered, locateIn } from "./entries.ts";
import { byGroupAndKey, type KeyOrder } from "./key-order.ts";
import { type KeyColumn, KeyTable } from "./key-table.ts";

/** Keys that may lie unused: most come again. */
const sparedKeys = 16 * 1024;

/**
 * The keys of all windows of one operator, in one task: so a key is hashed, compared and sorted once, however many windows it is in. Windows have cells for numbers (cell-table.ts).
 */
export class Dictionary {
  #keys = new KeyTable();
  /** By another table of keys, which none leaves: the number here of each of its keys; below 0 where it was not asked for. */
  #translations = new WeakMap<KeyColumn, Int32Array>();
  #sorted: KeyOrder | undefined;

  get keys(): KeyColumn {
    return this.#keys;
  }

  /** The numbers of these entries' keys, which are inserted if they are new. */
  locate({ keys, numbers }: Pick<Entries, "keys" | "numbers">): Int32Array {
    if (numbers === undefined) return locateIn(this.#keys, { keys });
    const known = this.#translationOf(keys);
    this.#translate(keys, unknownOf(known, numbers), known);
    return gathered(known, numbers);
  }

  /** Numbers of all keys, by key group and key. */
  inOrder(keyGroups: number): KeyOrder {
    if (this.#sorted?.order.length !== this.#keys.count) this.#sorted = byGroupAndKey(this.#keys, keyGroups);
    return this.#sorted;
  }

  /** Forgets keys that no window has, if most are such: so memory goes with the windows that are there. @param windows all of them */
  forgetUnused(windows: readonly CellTable[]): void {
    const cells = windows.reduce((sum, { count }) => sum + count, 0);
    if (this.#keys.count <= sparedKeys + 2 * cells) return;
    const used = new Int32Array(this.#keys.count).fill(unknown);
    const before = this.#keys;
    this.#keys = new KeyTable();
    this.#translations = new WeakMap();
    this.#sorted = undefined;
    for (const window of windows) {
      this.#translate(before, unknownOf(used, window.keys.subarray(0, window.count)), used);
      window.renumber(used);
    }
  }

  /** Of keys that may have become more since: where nothing is shuffled, sub-ranges are merged while the next ones are read. */
  #translationOf(keys: KeyColumn): Int32Array {
    const known = this.#translations.get(keys);
    if (known !== undefined && known.length >= keys.count) return known;
    const larger = new Int32Array(Math.max(keys.count, 2 * (known?.length ?? 0))).fill(unknown);
    if (known !== undefined) larger.set(known);
    this.#translations.set(keys, larger);
    return larger;
  }

  /** Sets what these keys' numbers are here. */
  #translate(keys: KeyColumn, chosen: Int32Array, numbers: Int32Array): void {
    const inserted = locateIn(this.#keys, { keys, numbers: chosen });
    for (let index = 0; index < chosen.length; index++) numbers[chosen[index]!] = inserted[index]!;
  }
}

/** No number. */
const unknown = -1;

/** Those of the numbers that are not known. */
function unknownOf(known: Int32Array, numbers: Int32Array): Int32Array {
  const found = new Int32Array(numbers.length);
  let count = 0;
  for (let index = 0; index < numbers.length; index++)
    if (known[numbers[index]!] === unknown) found[count++] = numbers[index]!;
  return found.subarray(0, count);
}
