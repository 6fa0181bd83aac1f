import { InfrastructureError } from "../errors.ts";
import { viewOf } from "./bytes.ts";
import { hashTagged } from "./key-codec.ts";
import { masks, wholeBytes } from "./key-words.ts";

/** Encoded keys as columns. Key i is `bytes[ends[i], ends[i + 1])`. */
export interface KeyColumn {
  readonly count: number;
  readonly bytes: Buffer;
  readonly ends: Int32Array;
  /** `hashKey` of each. */
  readonly hashes: Int32Array;
}

/** Encoded keys where they lie: key i is `bytes[starts[i], ends[i])`, after the byte `tags[i]` where there are tags: so a text of a source is a key where it is. */
export interface KeysInPlace {
  /** `hashKey` of each, where it is known. */
  readonly hashes?: Int32Array;
  readonly tags?: Uint8Array;
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const initialCapacity = 16;
/** Keys that are looked up without looking whether there is room. */
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

  /** Forgets all keys, and keeps its room. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(0);
  }

  /** Makes room for so many keys in all, where they are known to come: else they are moved each time that their number doubles. */
  reserve(keys: number): void {
    if (keys > this.capacity) this.#grow(2 ** Math.ceil(Math.log2(keys)));
  }

  /**
   * Sets `numbers[i - from]` for the keys `[from, to)` to their numbers; those that are new are inserted, in order: their numbers begin with what `count` was.
   *
   * @param chosen not the keys `[from, to)` themselves, but those with the numbers `chosen[from, to)`
   */
  locateAll(keys: KeysInPlace, from: number, to: number, numbers: Int32Array, chosen?: Int32Array): void {
    const view = viewOf(keys.bytes);
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + blockKeys);
      this.#makeRoom(end - at);
      const begun = at;
      at = this.#locateShort(keys, view, at, end, numbers, from, chosen);
      if (at < end) at = this.#locateLong(keys, view, at, end, numbers, from, chosen);
      if (at > begun) continue;
      numbers[at - from] = this.#locateAtEnd(keys, view, chosen === undefined ? at : chosen[at]!);
      at++;
    }
  }

  /**
   * The same as long as keys are short, and so are three words (key-words.ts), which tell all of a key, and are hashed faster than by `hashKey`. Returns the first key that is not, or that ends too close
   * to the end of its buffer, or `to`.
   */
  #locateShort(
    keys: KeysInPlace,
    view: DataView,
    from: number,
    to: number,
    numbers: Int32Array,
    first: number,
    chosen: Int32Array | undefined,
  ): number {
    const { tags, starts, ends } = keys;
    const slots = this.#slots;
    const own = this.#view;
    const ownEnds = this.ends;
    const mask = slots.length - 1;
    const shift = Math.clz32(mask);
    const lastStart = view.byteLength - wholeBytes;
    for (let at = from; at < to; at++) {
      const key = chosen === undefined ? at : chosen[at]!;
      let start = starts[key]!;
      const tag = tags === undefined ? view.getUint8(start++) : tags[key]!;
      const length = ends[key]! - start + 1;
      if (length > wholeBytes || start > lastStart) return at;
      const firstMask = masks[length + 8]!;
      const secondMask = masks[length + 4]!;
      const thirdMask = masks[length]!;
      const one = (tag | (view.getInt32(start, true) << 8)) & firstMask;
      const two = view.getInt32(start + 3, true) & secondMask;
      const three = view.getInt32(start + 7, true) & thirdMask;
      let slot = mixed(one, two, three) >>> shift;
      let entry = slots[slot]!;
      while (entry !== 0) {
        const place = ownEnds[entry - 1]!;
        if (
          ownEnds[entry]! - place === length &&
          (((own.getInt32(place, true) ^ one) & firstMask) |
            ((own.getInt32(place + 4, true) ^ two) & secondMask) |
            ((own.getInt32(place + 8, true) ^ three) & thirdMask)) ===
            0
        )
          break;
        slot = (slot + 1) & mask;
        entry = slots[slot]!;
      }
      if (entry === 0) {
        entry = this.#append(keys.hashes === undefined ? hashTagged(tag, view, start, ends[key]!) : keys.hashes[key]!);
        slots[slot] = entry;
        const place = ownEnds[entry - 1]!;
        own.setInt32(place, one, true);
        own.setInt32(place + 4, two, true);
        own.setInt32(place + 8, three, true);
        ownEnds[entry] = place + length;
      }
      numbers[at - first] = entry - 1;
    }
    return to;
  }

  /** The same as long as keys are long. Returns the first one that is not, or `to`. */
  #locateLong(
    keys: KeysInPlace,
    view: DataView,
    from: number,
    to: number,
    numbers: Int32Array,
    first: number,
    chosen: Int32Array | undefined,
  ): number {
    const { tags, starts, ends, hashes } = keys;
    for (let at = from; at < to; at++) {
      const key = chosen === undefined ? at : chosen[at]!;
      let start = starts[key]!;
      const tag = tags === undefined ? view.getUint8(start++) : tags[key]!;
      const length = ends[key]! - start + 1;
      if (length <= wholeBytes) return at;
      const hash = hashes === undefined ? hashTagged(tag, view, start, ends[key]!) : hashes[key]!;
      const slot = this.#searchLong(hash, tag, view, start, length);
      const entry = this.#slots[slot]!;
      numbers[at - first] = (entry !== 0 ? entry : this.#insertLong(slot, hash, tag, keys.bytes, start, length)) - 1;
    }
    return to;
  }

  /** The slot that a long key has, or would have. */
  #searchLong(hash: number, tag: number, view: DataView, start: number, length: number): number {
    const slots = this.#slots;
    const hashes = this.hashes;
    const mask = slots.length - 1;
    let slot = spread(hash) >>> Math.clz32(mask);
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (hashes[entry - 1] === hash && this.#equals(entry - 1, tag, view, start, length)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #equals(number: number, tag: number, view: DataView, start: number, length: number): boolean {
    const own = this.#view;
    const place = this.ends[number]!;
    if (this.ends[number + 1]! - place !== length || own.getUint8(place) !== tag) return false;
    let at = 1;
    for (; at + 4 <= length; at += 4)
      if (own.getInt32(place + at, true) !== view.getInt32(start + at - 1, true)) return false;
    for (; at < length; at++) if (own.getUint8(place + at) !== view.getUint8(start + at - 1)) return false;
    return true;
  }

  /** Returns its number + 1. */
  #insertLong(slot: number, hash: number, tag: number, bytes: Uint8Array, start: number, length: number): number {
    const place = this.ends[this.count]!;
    this.#reserveBytes(place + length);
    this.bytes[place] = tag;
    this.bytes.set(bytes.subarray(start, start + length - 1), place + 1);
    const entry = this.#append(hash);
    this.ends[entry] = place + length;
    this.#slots[slot] = entry;
    return entry;
  }

  /** The number of a short key behind which its buffer ends: words are read whole, so it is looked up where there is more. */
  #locateAtEnd(keys: KeysInPlace, view: DataView, key: number): number {
    const { tags, bytes } = keys;
    const start = keys.starts[key]! + (tags === undefined ? 1 : 0);
    const end = keys.ends[key]!;
    const tag = tags === undefined ? bytes[start - 1]! : tags[key]!;
    const copy = new Uint8Array(2 * wholeBytes);
    copy[0] = tag;
    copy.set(bytes.subarray(start, end), 1);
    const alone = {
      hashes: Int32Array.of(keys.hashes === undefined ? hashTagged(tag, view, start, end) : keys.hashes[key]!),
      bytes: copy,
      starts: Int32Array.of(0),
      ends: Int32Array.of(end - start + 1),
    };
    const number = new Int32Array(1);
    this.#locateShort(alone, viewOf(copy), 0, 1, number, 0, undefined);
    return number[0]!;
  }

  /** Adds a key for which there is room, but for its bytes and their end. Returns its number + 1. */
  #append(hash: number): number {
    this.hashes[this.count] = hash;
    this.count++;
    return this.count;
  }

  /** Room for so many more short keys. */
  #makeRoom(keys: number): void {
    this.reserve(this.count + keys);
    this.#reserveBytes(this.ends[this.count]! + keys * wholeBytes);
  }

  /** Words of the last key are read and written whole. */
  #reserveBytes(used: number): void {
    const needed = used + wholeBytes;
    if (needed <= this.bytes.length) return;
    if (needed > 0x7fffffff) {
      throw new InfrastructureError(
        "state-too-large",
        "The keys of one epoch or window are more than 2 GiB in one task",
        {
          wayOut: "Use more tasks, or smaller windows or epochs.",
        },
      );
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
    for (let key = 0; key < this.count; key++) this.#slots[this.#freeSlot(key)] = key + 1;
  }

  #freeSlot(key: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#home(key) >>> Math.clz32(mask);
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  /** Where the search for a key begins. */
  #home(key: number): number {
    const place = this.ends[key]!;
    const length = this.ends[key + 1]! - place;
    if (length > wholeBytes) return spread(this.hashes[key]!);
    const own = this.#view;
    return mixed(
      own.getInt32(place, true) & masks[length + 8]!,
      own.getInt32(place + 4, true) & masks[length + 4]!,
      own.getInt32(place + 8, true) & masks[length]!,
    );
  }
}

/** Of a long key. Its high bits count: the key groups of a task are picked by the hash's remainder. */
function spread(hash: number): number {
  return Math.imul(hash, 0x9e3779b1);
}

/** Of a short key's words. Its high bits count, in which all of these are. */
function mixed(one: number, two: number, three: number): number {
  return Math.imul(one ^ Math.imul(two, 0x85ebca6b) ^ Math.imul(three, 0xc2b2ae35), 0x9e3779b1);
}
