const initialCapacity = 64;

/**
 * Which cell of its columns a window has for a key, by the key's number in the dictionary of all windows (keys.ts). Cells are numbered in order of insertion. An open-addressing table of whole numbers:
 * so a window costs what its own keys cost, however many there are in others.
 */
export class CellTable {
  count = 0;
  /** Number of the key of each cell. */
  keys = new Int32Array(initialCapacity);
  /** Cell + 1; 0 is free. Twice as many as cells at most. */
  #slots = new Int32Array(initialCapacity * 2);

  get capacity(): number {
    return this.keys.length;
  }

  /** Sets `cells[i - from]` for the keys `keys[from, to)`; those that are new are inserted, in order. */
  locateAll(keys: Int32Array, from: number, to: number, cells: Int32Array): void {
    this.#reserve(this.count + to - from);
    const slots = this.#slots;
    const own = this.keys;
    const mask = slots.length - 1;
    let count = this.count;
    for (let at = from; at < to; at++) {
      const key = keys[at]!;
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
      cells[at - from] = entry - 1;
    }
    this.count = count;
  }

  /** The cell of a key; below 0 if it has none. */
  find(key: number): number {
    return this.#slots[this.#search(key)]! - 1;
  }

  /** A new cell for a key: from now on it is the one that it has. */
  add(key: number): number {
    this.#reserve(this.count + 1);
    this.keys[this.count++] = key;
    this.#slots[this.#search(key)] = this.count;
    return this.count - 1;
  }

  /** Forgets all, and keeps its room. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(0);
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
    const capacity = 2 ** Math.ceil(Math.log2(cells));
    const keys = new Int32Array(capacity);
    keys.set(this.keys.subarray(0, this.count));
    this.keys = keys;
    this.#slots = new Int32Array(capacity * 2);
    // The newest cell of a key is the one that it has.
    for (let cell = 0; cell < this.count; cell++) this.#slots[this.#search(keys[cell]!)] = cell + 1;
  }
}

function spread(key: number): number {
  const mixed = Math.imul(key, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
