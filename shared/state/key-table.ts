import { InfrastructureError } from "../errors.ts";
import { viewOf } from "./bytes.ts";
import { equalKeys, readAhead } from "./equal-keys.ts";

/** Encoded keys as columns. Key i is `bytes[ends[i], ends[i + 1])`. */
export interface KeyColumn {
  readonly count: number;
  readonly bytes: Buffer;
  readonly ends: Int32Array;
  /** `hashKey` of each. */
  readonly hashes: Int32Array;
}

/** Encoded keys where they lie: key i is `bytes[starts[i], ends[i])`, after the byte `tags[i]` where there are tags. */
export interface KeysInPlace {
  readonly hashes: Int32Array;
  readonly tags?: Uint8Array;
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const initialCapacity = 16;
/** Keys that are looked up together. */
const blockKeys = 256;

/**
 * A set of encoded keys, numbered in order of insertion: an open-addressing hash table in typed arrays, so that a million keys are a few
 * buffers and no objects.
 */
export class KeyTable implements KeyColumn {
  count = 0;
  bytes = Buffer.allocUnsafeSlow(initialCapacity * 8);
  ends = new Int32Array(initialCapacity + 1);
  hashes = new Int32Array(initialCapacity);
  #view = viewOf(this.bytes);
  /** Key number + 1; 0 is free. Twice as many as keys at most. */
  #slots = new Int32Array(initialCapacity * 2);

  get capacity(): number {
    return this.hashes.length;
  }

  /** Makes room for so many keys in all, where they are known to come: else they are moved each time that their number doubles. */
  reserve(keys: number): void {
    if (keys > this.capacity) this.#grow(2 ** Math.ceil(Math.log2(keys)));
  }

  /**
   * The number of the key that is the byte `tag` and `bytes[start, end)`, which is inserted if it is new: then the number is what `count` was. The tag is given
   * apart, since a text of a source is a key where it is, but for its tag.
   */
  locate(hash: number, tag: number, bytes: Uint8Array, start: number, end: number): number {
    const found = this.#search(hash, tag, bytes, start, end);
    return found >= 0 ? found : this.#insert(~found, hash, tag, bytes, start, end);
  }

  /**
   * Sets `numbers[i - from]` for the keys `[from, to)` to what `locate` gives for them, one after the other. In blocks: first by hash alone, so that the processor waits for
   * many places of a large table at once, then by bytes, mostly in order.
   */
  locateAll(keys: KeysInPlace, from: number, to: number, numbers: Int32Array): void {
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + blockKeys);
      const guessed = this.#guess(keys.hashes, at, end, numbers, from);
      const settled = this.#settle(keys, at, end, numbers, from);
      at = settled;
      if (settled === end) continue;
      // Another key with the same hash. All that was guessed to be new behind it is taken back, the last one first: nothing was put behind that.
      for (let key = guessed - 1; key >= this.count; key--) this.#slots[this.#slotOf(key)] = 0;
      const { hashes, tags, bytes, starts, ends } = keys;
      const start = starts[at]!;
      numbers[at - from] = tags
        ? this.locate(hashes[at]!, tags[at]!, bytes, start, ends[at]!)
        : this.locate(hashes[at]!, bytes[start]!, bytes, start + 1, ends[at]!);
      at++;
    }
  }

  /** Takes keys with equal hashes for equal, and gives new ones their place; returns how many there would be then. */
  #guess(keys: Int32Array, from: number, to: number, numbers: Int32Array, first: number): number {
    this.reserve(this.count + to - from);
    const slots = this.#slots;
    const hashes = this.hashes;
    const mask = slots.length - 1;
    let count = this.count;
    for (let at = from; at < to; at++) {
      const hash = keys[at]!;
      let slot = home(hash) & mask;
      let entry = slots[slot]!;
      while (entry !== 0 && hashes[entry - 1] !== hash) {
        slot = (slot + 1) & mask;
        entry = slots[slot]!;
      }
      if (entry === 0) {
        hashes[count++] = hash;
        slots[slot] = count;
        entry = count;
      }
      numbers[at - first] = entry - 1;
    }
    return count;
  }

  /** Compares the bytes of keys with those that they were taken for, and appends new ones; returns the first that is another after all, or `to`. */
  #settle(keys: KeysInPlace, from: number, to: number, numbers: Int32Array, first: number): number {
    const { tags, bytes, starts, ends } = keys;
    const view = viewOf(bytes);
    for (let at = from; at < to; at++) {
      const number = numbers[at - first]!;
      const end = ends[at]!;
      let start = starts[at]!;
      const tag = tags === undefined ? bytes[start++]! : tags[at]!;
      let own = this.ends[number]!;
      const length = end - start + 1;
      if (number < this.count) {
        if (this.ends[number + 1]! - own !== length) return at;
        if (!equalKeys(this.#view, own, length, tag, view, start)) return at;
        continue;
      }
      if (own + length + readAhead > this.bytes.length) this.#growBytes(own + length + readAhead);
      const table = this.bytes;
      this.ends[number + 1] = own + length;
      this.count = number + 1;
      table[own++] = tag;
      if (length > 32) table.set(bytes.subarray(start, end), own);
      else while (start < end) table[own++] = bytes[start++]!;
    }
    return to;
  }

  /** The number of a key; below 0 if it is not there. */
  find(hash: number, tag: number, bytes: Uint8Array, start: number, end: number): number {
    return this.#search(hash, tag, bytes, start, end);
  }

  /** Inserts the key with this number once more: it is found by the new number from now on. */
  again(number: number): number {
    this.reserve(this.count + 1);
    const slot = this.#slotOf(number);
    const start = this.ends[number]!;
    return this.#insert(slot, this.hashes[number]!, this.bytes[start]!, this.bytes, start + 1, this.ends[number + 1]!);
  }

  /** The number of a key; `~slot` of where it belongs if it is new. */
  #search(hash: number, tag: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const hashes = this.hashes;
    const mask = slots.length - 1;
    let slot = home(hash) & mask;
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (hashes[entry - 1] === hash && this.#equals(entry - 1, tag, bytes, start, end)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    return ~slot;
  }

  #equals(key: number, tag: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.bytes;
    let at = this.ends[key]!;
    if (this.ends[key + 1]! - at !== end - start + 1 || own[at++] !== tag) return false;
    for (let other = start; other < end; other++) if (own[at++] !== bytes[other]) return false;
    return true;
  }

  #insert(free: number, hash: number, tag: number, bytes: Uint8Array, start: number, end: number): number {
    const key = this.count;
    let at = this.ends[key]!;
    const to = at + end - start + 1;
    if (to + readAhead > this.bytes.length) this.#growBytes(to + readAhead);
    this.bytes[at++] = tag;
    if (end - start > 32) this.bytes.set(bytes.subarray(start, end), at);
    else for (let other = start; other < end; ) this.bytes[at++] = bytes[other++]!;
    let slot = free;
    if (key === this.capacity) {
      this.#grow(this.capacity * 2);
      slot = this.#freeSlot(hash);
    }
    this.#slots[slot] = key + 1;
    this.hashes[key] = hash;
    this.ends[key + 1] = to;
    this.count = key + 1;
    return key;
  }

  #growBytes(needed: number): void {
    if (needed > 0x7fffffff) {
      throw new InfrastructureError("state-too-large", "The keys of one window are more than 2 GiB in one task", {
        wayOut: "Use more tasks, or smaller windows or epochs.",
      });
    }
    const larger = Buffer.allocUnsafeSlow(Math.min(0x7fffffff, Math.max(needed, this.bytes.length * 2)));
    larger.set(this.bytes.subarray(0, this.ends[this.count]));
    this.bytes = larger;
    this.#view = viewOf(larger);
  }

  #grow(capacity: number): void {
    const ends = new Int32Array(capacity + 1);
    const hashes = new Int32Array(capacity);
    ends.set(this.ends);
    hashes.set(this.hashes);
    this.ends = ends;
    this.hashes = hashes;
    this.#slots = new Int32Array(capacity * 2);
    // Of a key that was inserted again the newest comes first, and so is found.
    for (let key = this.count - 1; key >= 0; key--) this.#slots[this.#freeSlot(hashes[key]!)] = key + 1;
  }

  #slotOf(key: number): number {
    const mask = this.#slots.length - 1;
    let slot = home(this.hashes[key]!) & mask;
    while (this.#slots[slot] !== key + 1) slot = (slot + 1) & mask;
    return slot;
  }

  #freeSlot(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = home(hash) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }
}

/** Where the search for a hash begins. The key groups of a task are picked by the hash's remainder: so other bits, well mixed, count here. */
function home(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
