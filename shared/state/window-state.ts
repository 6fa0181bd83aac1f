import { type Column, growColumns, type NamedAggregate, newColumns } from "./columns.ts";
import { type Entries, pick } from "./entries.ts";
import { type KeyColumn, KeyTable } from "./key-table.ts";

/**
 * The merged accumulators of one window of one operator, for the keys of one task. Knows what changed since the last snapshot: keys that it has not, and those
 * that are marked. So nothing is kept of what changed in a window that no snapshot has.
 */
export class WindowState implements Entries {
  readonly keys = new KeyTable();
  readonly columns: Column[];
  /** Numbers below `saved` that are marked, and 1 for each of them. */
  #marked: number[] = [];
  #isMarked = new Uint8Array();
  #saved = 0;

  constructor(aggregates: readonly NamedAggregate[]) {
    this.columns = newColumns(aggregates, this.keys.capacity);
  }

  /** Keys below this number are in the last snapshot. */
  get saved(): number {
    return this.#saved;
  }

  /** How many keys changed. */
  get changes(): number {
    return this.#marked.length + this.keys.count - this.#saved;
  }

  /** Numbers of the keys that changed; undefined: of all. */
  changed(): Int32Array | undefined {
    if (this.#saved === 0) return undefined;
    const numbers = new Int32Array(this.changes);
    numbers.set(this.#marked);
    for (let number = this.#saved, at = this.#marked.length; at < numbers.length; ) numbers[at++] = number++;
    return numbers;
  }

  isChanged(number: number): boolean {
    return number >= this.#saved || this.#isMarked[number] === 1;
  }

  /** The numbers of these keys, all of them changed from now on. Those from `keys.count`, as it was before the call, are new and have no accumulators yet. */
  touch(keys: KeyColumn): Int32Array {
    const numbers = this.locate(keys);
    if (this.#saved > 0) for (const number of numbers) this.mark(number);
    return numbers;
  }

  /** The key with this number is changed from now on. */
  mark(number: number): void {
    if (this.isChanged(number)) return;
    this.#isMarked[number] = 1;
    this.#marked.push(number);
  }

  /** The keys with these numbers, as a table of their own. It knows which of them changed, but not which are new: for state whose keys go one by one. */
  only(numbers: readonly number[], aggregates: readonly NamedAggregate[]): WindowState {
    const kept = new WindowState(aggregates);
    kept.restore(pick(this, numbers));
    for (const [number, old] of numbers.entries()) if (this.isChanged(old)) kept.mark(number);
    return kept;
  }

  /** Sets entries as they are in a snapshot. */
  restore({ keys, columns }: Entries): void {
    const numbers = this.locate(keys);
    for (const [at, column] of columns.entries()) {
      const own = this.columns[at]!;
      for (let index = 0; index < numbers.length; index++) own[numbers[index]!] = column[index];
    }
    this.#setSaved();
  }

  /** All is in a snapshot now. */
  markSaved(): void {
    for (const number of this.#marked) this.#isMarked[number] = 0;
    this.#marked = [];
    this.#setSaved();
  }

  /** The numbers of these keys, as `touch` gives them; whoever changes one marks it. */
  locate({ count, bytes, ends, hashes }: KeyColumn): Int32Array {
    this.keys.reserve(count);
    const numbers = new Int32Array(count);
    for (let index = 0; index < count; index++) {
      numbers[index] = this.keys.locate(hashes[index]!, bytes, ends[index]!, ends[index + 1]!);
    }
    growColumns(this.columns, this.keys.capacity);
    return numbers;
  }

  #setSaved(): void {
    this.#saved = this.keys.count;
    if (this.#isMarked.length >= this.#saved) return;
    const larger = new Uint8Array(this.keys.capacity);
    larger.set(this.#isMarked);
    this.#isMarked = larger;
  }
}
