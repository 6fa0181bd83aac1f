import { isUtf8 } from "node:buffer";
import { UserCodeError } from "../../errors.ts";
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

const format: Decoder<string> & Encoder<string> = {
  name: "text",
  decode: decodeText,
  encode(row) {
    if (typeof row === "string") return row;
    throw new UserCodeError("row-not-text", `text() encodes texts, and a row is of type ${typeof row}`);
  },
};

/** Each record is a text in UTF-8: decodes what a source reads, and encodes what a sink writes. */
export function text(): Decoder<string> & Encoder<string> {
  return format;
}
