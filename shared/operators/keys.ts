import type { Key } from "../pipeline/topology.ts";
import { ByteWriter } from "../state/bytes.ts";
import { decodeKey, encodeKey, textTag } from "../state/key-codec.ts";
import { type KeysInPlace, KeyTable } from "../state/key-table.ts";
import { Scratch, type Texts } from "./values.ts";

/**
 * The keys of a batch, as their numbers in a dictionary of all that this task has met: each is encoded, hashed and looked up by its bytes once, however
 * many windows and aggregations there are, and goes through the shuffle once. A batch has texts for its keys, which stay where they are, or keys that are added one by one.
 */
export class Keys {
  count = 0;
  readonly dictionary = new KeyTable();
  readonly #scratch = new Scratch();
  readonly #writer = new ByteWriter(64 * 1024);
  #starts = new Int32Array();
  #ends = new Int32Array();
  #textTags = new Uint8Array();

  /** Number of each key. May be longer, and is used again for the next batch. */
  get numbers(): Int32Array {
    return this.#scratch.numbers;
  }

  at(index: number): Key {
    const { bytes, ends } = this.dictionary;
    const number = this.numbers[index]!;
    return decodeKey(bytes, ends[number]!, ends[number + 1]!);
  }

  /** A batch with these texts for its keys. */
  ofTexts({ count, bytes, starts, ends }: Pick<Texts, "count" | "bytes" | "starts" | "ends">): Keys {
    if (this.#textTags.length < count) this.#textTags = new Uint8Array(starts.length).fill(textTag);
    this.count = count;
    this.#locate({ bytes, starts, ends, tags: this.#textTags });
    return this;
  }

  /** A batch of at most so many keys begins. */
  begin(most: number): void {
    this.count = 0;
    this.#writer.length = 0;
    if (this.#starts.length >= most) return;
    this.#starts = new Int32Array(most);
    this.#ends = new Int32Array(most);
  }

  /** Adds a key that `whyNoKey` has nothing against. */
  add(key: Key): void {
    const start = this.#writer.length;
    encodeKey(this.#writer, key);
    this.#added(start);
  }

  /** Adds the most frequent kind of key, a short text of ASCII, without checks, which it needs none of. Another one is left to the caller: then false. */
  addAscii(text: string): boolean {
    const { length } = text;
    if (length > 32) return false;
    const writer = this.#writer;
    writer.reserve(length + 1);
    const { bytes, length: start } = writer;
    bytes[start] = textTag;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      bytes[start + 1 + index] = unit;
    }
    writer.length = start + 1 + length;
    this.#added(start);
    return true;
  }

  /** All keys of the batch are there. */
  end(): Keys {
    this.#locate({ bytes: this.#writer.bytes, starts: this.#starts, ends: this.#ends });
    return this;
  }

  #added(start: number): void {
    const index = this.count++;
    this.#starts[index] = start;
    this.#ends[index] = this.#writer.length;
  }

  #locate(keys: KeysInPlace): void {
    this.dictionary.locateAll(keys, 0, this.count, this.#scratch.reserve(this.count));
  }
}
