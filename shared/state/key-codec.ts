import type { Key, KeyPart } from "../pipeline/topology.ts";
import { ByteReader, type ByteWriter, MalformedError } from "./bytes.ts";

/** The first byte of a key that is a text: its UTF-8 follows. */
export const textTag = 1;

/** The first byte of an encoded key, so that 1, "1", true, 1n and ["1"] differ. Part of the state format. */
const tag = { string: textTag, number: 2, false: 3, true: 4, bigint: 5, tuple: 6 } as const;

/**
 * Says why a value cannot be a key; undefined if it can.
 * Keys are well-formed strings, finite numbers, booleans, bigints, and tuples of them.
 */
export function whyNoKey(value: unknown): string | undefined {
  if (!Array.isArray(value)) return whyNoPart(value);
  for (let index = 0; index < value.length; index++) {
    const reason = whyNoPart(value[index]);
    if (reason !== undefined) return `a tuple with ${reason}`;
  }
  return undefined;
}

function whyNoPart(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? undefined : "a string with a lone surrogate";
    case "number":
      return Number.isFinite(value) ? undefined : String(value);
    case "boolean":
    case "bigint":
      return undefined;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return value === undefined ? "undefined" : `a ${typeof value}`;
  }
}

/** Appends the bytes of a key that `whyNoKey` has nothing against. */
export function encodeKey(writer: ByteWriter, key: Key): void {
  switch (typeof key) {
    case "string":
      writer.byte(tag.string);
      writer.utf8(key);
      return;
    case "number":
      writer.byte(tag.number);
      writer.float64(key === 0 ? 0 : key); // -0 is 0
      return;
    case "boolean":
      writer.byte(key ? tag.true : tag.false);
      return;
    case "bigint":
      writer.byte(tag.bigint);
      writer.utf8(key.toString());
      return;
    default:
      writer.byte(tag.tuple);
      for (const part of key) {
        const at = writer.length;
        writer.uint32(0);
        encodeKey(writer, part);
        writer.bytes.writeUInt32LE(writer.length - at - 4, at);
      }
  }
}

/** The key of `bytes[start, end)`. @throws MalformedError if `encodeKey` did not write it */
export function decodeKey(bytes: Buffer, start: number, end: number): Key {
  if (bytes[start] !== tag.tuple) return decodePart(bytes, start, end);
  const reader = new ByteReader(bytes, start + 1, end);
  const parts: KeyPart[] = [];
  while (reader.left > 0) {
    const size = reader.uint32();
    const from = reader.skip(size);
    parts.push(decodePart(bytes, from, from + size));
  }
  return parts;
}

function decodePart(bytes: Buffer, start: number, end: number): KeyPart {
  switch (start < end ? bytes[start] : undefined) {
    case tag.string:
      return bytes.toString("utf8", start + 1, end);
    case tag.number:
      if (end - start === 9) return bytes.readDoubleLE(start + 1);
      break;
    case tag.false:
      return false;
    case tag.true:
      return true;
    case tag.bigint:
      return BigInt(bytes.toString("latin1", start + 1, end));
  }
  throw new MalformedError("a key is none");
}

/** MurmurHash3, 32 bits, little-endian, seed 0 (Austin Appleby, public domain), as a signed integer. Part of the state format. */
export function hashKey(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const tail = end - (length & 3);
  let hash = 0;
  for (let at = start; at < tail; at += 4) {
    hash = mix(hash, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  }
  let rest = 0;
  for (let at = end - 1; at >= tail; at--) rest = (rest << 8) | bytes[at]!;
  return finish(hash ^ scramble(rest) ^ length);
}

/** `hashKey` of the key that is the byte `tag` and `[start, end)` of the view. */
export function hashTagged(tag: number, view: DataView, start: number, end: number): number {
  const length = end - start + 1;
  // Four bytes at a time are read also where fewer are left: not at the end of the view.
  if (end + 4 > view.byteLength) return hashKey(tagged(tag, view, start, end), 0, length);
  const first = tag | (view.getInt32(start, true) << 8);
  if (length < 4) return finish(scramble(first & firstBytes[length]!) ^ length);
  let hash = mix(0, first);
  let at = start + 3;
  for (; at + 4 <= end; at += 4) hash = mix(hash, view.getInt32(at, true));
  return finish(hash ^ scramble(view.getInt32(at, true) & firstBytes[end - at]!) ^ length);
}

/** Masks of the first bytes of a word. */
const firstBytes = Int32Array.of(0, 0xff, 0xffff, 0xffffff);

function tagged(tag: number, view: DataView, start: number, end: number): Uint8Array {
  const key = new Uint8Array(end - start + 1);
  key[0] = tag;
  for (let at = start; at < end; at++) key[at - start + 1] = view.getUint8(at);
  return key;
}

function mix(hash: number, word: number): number {
  const mixed = hash ^ scramble(word);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function scramble(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

/** The key group of a key with this hash (protocol §8). */
export function keyGroupOf(hash: number, keyGroups: number): number {
  return (hash >>> 0) % keyGroups;
}
