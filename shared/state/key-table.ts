import { InfrastructureError } from "../errors.ts";

/** Encoded keys as columns. Key i is `bytes[ends[i], ends[i + 1])`. */
export interface KeyColumn {
  readonly count: number;
  readonly bytes: Buffer;
  readonly ends: Int32Array;
  /** `hashKey` of each. */
  readonly hashes: Int32Array;
}

const initialCapacity = 16;

/**
 * A set of encoded keys, numbered in order of insertion: an open-addressing hash table in typed arrays, so that a million keys are a few
 * buffers and no objects.
 */
export class KeyTable implements KeyColumn {
  count = 0;
  bytes = Buffer.allocUnsafeSlow(initialCapacity * 8);
  ends = new Int32Array(initialCapacity + 1);
  hashes = new Int32Array(initialCapacity);
  /** Key number + 1; 0 is free. Twice as many as keys at most. */
  #slots = new Int32Array(initialCapacity * 2);

  get capacity(): number {
    return this.hashes.length;
  }

  /** Makes room for so many keys in all, where they are known to come: else they are moved each time that their number doubles. */
  reserve(keys: number): void {
    if (keys > this.capacity) this.#grow(2 ** Math.ceil(Math.log2(keys)));
  }

  /** The number of the key `bytes[start, end)`, which is inserted if it is new: then the number is what `count` was. */
  locate(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = home(hash) & mask;
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (this.hashes[entry - 1] === hash && this.#equals(entry - 1, bytes, start, end)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    return this.#insert(slot, hash, bytes, start, end);
  }

  #equals(key: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.bytes;
    let at = this.ends[key]!;
    if (this.ends[key + 1]! - at !== end - start) return false;
    for (let other = start; other < end; other++) if (own[at++] !== bytes[other]) return false;
    return true;
  }

  #insert(free: number, hash: number, bytes: Uint8Array, start: number, end: number): number {
    const key = this.count;
    const from = this.ends[key]!;
    const to = from + end - start;
    if (to > this.bytes.length) this.#growBytes(to);
    if (end - start > 32) this.bytes.set(bytes.subarray(start, end), from);
    else for (let other = start, at = from; other < end; ) this.bytes[at++] = bytes[other++]!;
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
  }

  #grow(capacity: number): void {
    const ends = new Int32Array(capacity + 1);
    const hashes = new Int32Array(capacity);
    ends.set(this.ends);
    hashes.set(this.hashes);
    this.ends = ends;
    this.hashes = hashes;
    this.#slots = new Int32Array(capacity * 2);
    for (let key = 0; key < this.count; key++) this.#slots[this.#freeSlot(hashes[key]!)] = key + 1;
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
