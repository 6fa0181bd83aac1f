import { isUtf8 } from "node:buffer";
import type { Decoder } from "../topology.ts";
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

const decoder: Decoder<string> = { name: "text", decode: decodeText };

/** Each record is a text in UTF-8. */
export function text(): Decoder<string> {
  return decoder;
}
