const initialCapacity = 64;
/** Keys below this number have an entry each in a window: 64 KiB at most. */
const denseKeys = 16 * 1024;

/**
 * Which cell of its columns a window has for a key, by the key's number in a dictionary of all windows. Cells are numbered in order of insertion. Keys with small numbers were
 * met first, so that those that are met most are among them: their cells are in an array. Those of the others are in an open-addressing table of whole numbers. So a window costs
 * what its own keys cost, however many there are in others.
 */
export class CellTable {
  count = 0;
  /** Number of the key of each cell. */
  keys = new Int32Array(initialCapacity);
  /** Cell + 1 of each key with a small number; 0 if it has none. */
  #dense = new Int32Array(initialCapacity);
  /** Cell + 1 of other keys; 0 is free. Twice as many as cells at most. */
  #slots = new Int32Array();

  get capacity(): number {
    return this.keys.length;
  }

  /** Sets `cells[i - from]` for the keys `keys[from, to)`; those that are new are inserted, in order. */
  locateAll(keys: Int32Array, from: number, to: number, cells: Int32Array): void {
    this.#reserve(this.count + to - from);
    for (let at = from; at < to; ) {
      at = this.#locateDense(keys, at, to, cells, from);
      if (at === to) return;
      if (keys[at]! < denseKeys) this.#reserveDense(keys[at]!);
      else at = this.#locateSparse(keys, at, to, cells, from);
    }
  }

  /** The cell of a key; below 0 if it has none. */
  find(key: number): number {
    if (key < denseKeys) return (this.#dense[key] ?? 0) - 1;
    return this.#slots.length === 0 ? -1 : this.#slots[this.#search(key)]! - 1;
  }

  /** Cell + 1 of each of so many keys; 0 of those that have none. */
  byKey(count: number): Int32Array {
    const cells = new Int32Array(count);
    for (let cell = 0; cell < this.count; cell++) cells[this.keys[cell]!] = cell + 1;
    return cells;
  }

  /** A new cell for a key: from now on it is the one that it has. */
  add(key: number): number {
    this.#reserve(this.count + 1);
    this.keys[this.count++] = key;
    this.#setCell(key, this.count);
    return this.count - 1;
  }

  /** Its keys have these numbers from now on, by those that they had; each has one cell. */
  renumber(numbers: Int32Array): void {
    this.#dense.fill(0);
    this.#slots = new Int32Array();
    for (let cell = 0; cell < this.count; cell++) {
      const key = numbers[this.keys[cell]!]!;
      this.keys[cell] = key;
      if (key < denseKeys) this.#setCell(key, cell + 1);
    }
    this.#reserveSlots();
  }

  /** Forgets all, and keeps its room. */
  clear(): void {
    this.count = 0;
    this.#dense.fill(0);
    this.#slots.fill(0);
  }

  /** The same as long as keys are in the array. Returns the first one that is not, or `to`. */
  #locateDense(keys: Int32Array, from: number, to: number, cells: Int32Array, first: number): number {
    const dense = this.#dense;
    const own = this.keys;
    const size = dense.length;
    let count = this.count;
    let at = from;
    for (; at < to; at++) {
      const key = keys[at]!;
      if (key >= size) break;
      let entry = dense[key]!;
      if (entry === 0) {
        own[count++] = key;
        entry = count;
        dense[key] = entry;
      }
      cells[at - first] = entry - 1;
    }
    this.count = count;
    return at;
  }

  /** The same as long as keys are not in the array. */
  #locateSparse(keys: Int32Array, from: number, to: number, cells: Int32Array, first: number): number {
    this.#reserveSlots();
    const slots = this.#slots;
    const own = this.keys;
    const mask = slots.length - 1;
    let count = this.count;
    let at = from;
    for (; at < to; at++) {
      const key = keys[at]!;
      if (key < denseKeys) break;
      let slot = spread(key) & mask;
      let entry = slots[slot]!;
      while (entry !== 0 && own[entry - 1] !== key) {
        slot = (slot + 1) & mask;
        entry = slots[slot]!;
      }
      if (entry === 0) {
        own[count++] = key;
        entry = count;
        slots[slot] = entry;
      }
      cells[at - first] = entry - 1;
    }
    this.count = count;
    return at;
  }

  #setCell(key: number, entry: number): void {
    if (key < denseKeys) {
      this.#reserveDense(key);
      this.#dense[key] = entry;
    } else {
      this.#reserveSlots();
      this.#slots[this.#search(key)] = entry;
    }
  }

  /** The slot that the key has, or would have. */
  #search(key: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = spread(key) & mask;
    while (slots[slot] !== 0 && this.keys[slots[slot]! - 1] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #reserve(cells: number): void {
    if (cells <= this.capacity) return;
    const keys = new Int32Array(powerOfTwo(cells));
    keys.set(this.keys.subarray(0, this.count));
    this.keys = keys;
  }

  #reserveDense(key: number): void {
    if (key < this.#dense.length) return;
    const dense = new Int32Array(powerOfTwo(key + 1));
    dense.set(this.#dense);
    this.#dense = dense;
  }

  /** Slots for as many keys as there is room for. */
  #reserveSlots(): void {
    if (this.#slots.length === this.capacity * 2) return;
    this.#slots = new Int32Array(this.capacity * 2);
    // The newest cell of a key is the one that it has.
    for (let cell = 0; cell < this.count; cell++)
      if (this.keys[cell]! >= denseKeys) this.#slots[this.#search(this.keys[cell]!)] = cell + 1;
  }
}

function powerOfTwo(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(atLeast));
}

function spread(key: number): number {
  const mixed = Math.imul(key, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
