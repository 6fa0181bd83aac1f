import { isUtf8 } from "node:buffer";
import { UserCodeError } from "../../errors.ts";
import { viewOf } from "../../state/bytes.ts";
import { checkFunction } from "../checks.ts";
import type { Decoder, Encoder } from "../topology.ts";
import { undecodable } from "./undecodable.ts";

/** What decoding puts in place of bytes that are not UTF-8; a text may well hold one of its own. */
const replacement = "\ufffd";

/**
 * The bytes as UTF-8. Bytes that are not UTF-8 throw, and so follow `onError`: a replacement character would merge keys that differ.
 * The check costs nothing for ASCII, which V8 keeps in one byte a character, where no replacement can be.
 */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString("utf8", start, end);
  if (text.includes(replacement) && !isUtf8(bytes.subarray(start, end))) throw undecodable("is not valid UTF-8");
  return text;
}

/** Throws where `decodeText` would, without making the text. */
export function checkText(bytes: Buffer, start: number, end: number): void {
  if (!isText(viewOf(bytes), start, end)) throw undecodable("is not valid UTF-8");
}

/** Whether `decodeText` takes the bytes. */
export function isText(view: DataView, start: number, end: number): boolean {
  return isAscii(view, start, end) || isUtf8(new Uint8Array(view.buffer, view.byteOffset + start, end - start));
}

/** In words of four bytes. */
function isAscii(view: DataView, start: number, end: number): boolean {
  let bits = 0;
  let at = start;
  for (; at + 16 <= end; at += 16)
    bits |= view.getInt32(at) | view.getInt32(at + 4) | view.getInt32(at + 8) | view.getInt32(at + 12);
  for (; at + 4 <= end; at += 4) bits |= view.getInt32(at);
  for (; at < end; at++) bits |= view.getUint8(at);
  return (bits & 0x8080_8080) === 0;
}

const format: Decoder<string> & Encoder<string> = {
  name: "text",
  decode: decodeText,
  encode(row) {
    if (typeof row === "string") return row;
    throw new UserCodeError("row-not-text", `text() encodes texts, and a row is of type ${typeof row}`);
  },
};

/** Whether it is `text()` itself: its values are the bytes of records as they are. */
export function isPlainText(value: unknown): boolean {
  return value === format;
}

/**
 * Each record is a text in UTF-8: decodes what a source reads, and encodes what a sink writes.
 *
 * @param encode makes the text of a row, where rows are no texts: for sinks alone
 * @throws UsageError `invalid-argument` for something else than a function
 */
export function text(): Decoder<string> & Encoder<string>;
export function text<T>(encode: (row: T) => string): Encoder<T>;
export function text<T>(...[encode]: [((row: T) => string)?]): (Decoder<string> & Encoder<string>) | Encoder<T> {
  if (encode === undefined) return format;
  checkFunction("text()", encode);
  return { name: "text", encode: (row: T) => format.encode(encode(row)) };
}
