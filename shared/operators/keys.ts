import type { Key } from "../pipeline/topology.ts";
import { ByteWriter, viewOf } from "../state/bytes.ts";
import { decodeKey, encodeKey, hashTagged, textTag } from "../state/key-codec.ts";
import type { KeyTable } from "../state/key-table.ts";
import { Scratch, type Texts } from "./values.ts";

/**
 * The keys of a batch, each encoded and hashed once, however many windows it is looked up in. Key i is the tag of its type (key-codec.ts) and
 * `bytes[starts[i], ends[i])`: texts of a source can so be keys where they are. The columns may be longer, and are reused for the next batch.
 */
export abstract class Keys {
  count = 0;
  protected tags = new Uint8Array();
  protected bytes: Buffer = Buffer.alloc(0);
  protected starts: Int32Array = new Int32Array();
  protected ends: Int32Array = new Int32Array();
  readonly #scratch = new Scratch();

  /** The number of a key in a table, which inserts it if it is new. */
  locate(table: KeyTable, index: number): number {
    const { tags, bytes, starts, ends } = this;
    return table.locate(this.#scratch.numbers[index]!, tags[index]!, bytes, starts[index]!, ends[index]!);
  }

  /** The same for the keys `[from, to)`. */
  locateAll(table: KeyTable, from: number, to: number, numbers: Int32Array): void {
    const { tags, bytes, starts, ends } = this;
    table.locateAll({ hashes: this.#scratch.numbers, tags, bytes, starts, ends }, from, to, numbers);
  }

  /** The number of a key in a table; below 0 if it is not there. */
  find(table: KeyTable, index: number): number {
    const { tags, bytes, starts, ends } = this;
    return table.find(this.#scratch.numbers[index]!, tags[index]!, bytes, starts[index]!, ends[index]!);
  }

  at(index: number): Key {
    const start = this.starts[index]!;
    const end = this.ends[index]!;
    // What is no text was encoded, with its tag before it.
    return this.tags[index] === textTag
      ? this.bytes.toString("utf8", start, end)
      : decodeKey(this.bytes, start - 1, end);
  }

  protected hash(): void {
    const { count, tags, bytes, starts, ends } = this;
    const view = viewOf(bytes);
    const hashes = this.#scratch.reserve(count);
    for (let at = 0; at < count; at++) hashes[at] = hashTagged(tags[at]!, view, starts[at]!, ends[at]!);
  }
}

/** The texts of a batch as its keys. */
export class TextKeys extends Keys {
  of({ count, bytes, starts, ends }: Pick<Texts, "count" | "bytes" | "starts" | "ends">): Keys {
    if (this.tags.length < count) this.tags = new Uint8Array(starts.length).fill(textTag);
    this.count = count;
    this.bytes = bytes;
    this.starts = starts;
    this.ends = ends;
    this.hash();
    return this;
  }
}

/** Keys that a function gave, one by one. */
export class EncodedKeys extends Keys {
  readonly #writer = new ByteWriter(64 * 1024);

  /** A batch of at most so many keys begins. */
  begin(most: number): void {
    this.count = 0;
    this.#writer.length = 0;
    if (this.tags.length >= most) return;
    this.tags = new Uint8Array(most);
    this.starts = new Int32Array(most);
    this.ends = new Int32Array(most);
  }

  /** A key that `whyNoKey` has nothing against. */
  add(key: Key): void {
    const writer = this.#writer;
    const start = writer.length;
    encodeKey(writer, key);
    this.#end(writer.bytes[start]!, start);
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
    this.#end(textTag, start);
    return true;
  }

  #end(tag: number, start: number): void {
    const index = this.count++;
    this.tags[index] = tag;
    this.starts[index] = start + 1;
    this.ends[index] = this.#writer.length;
  }

  /** All keys of the batch are there. */
  end(): Keys {
    this.bytes = this.#writer.bytes;
    this.hash();
    return this;
  }
}
