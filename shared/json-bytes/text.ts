import { copyBytes } from "../utf8.ts";

const quote = 0x22;
/** Longer texts are left to the engine, which is faster then. */
const mostByHand = 64;

/** By byte: whether JSON has it as it is within a text, alone or as a part of UTF-8. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== 0x5c ? 1 : 0,
);

/** What stands for each of the others: `\n`, `\u0001`, `\"`, … */
const escapes = Array.from({ length: 0x5d }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
);

/** The most bytes that a text takes as JSON: by units of a string, or by bytes of UTF-8. */
export const mostTextBytes = (length: number): number => 6 * length + 2;

/** Writes a text as `JSON.stringify` gives it, where there is room for `mostTextBytes`; returns the place after it. */
export function writeText(bytes: Buffer, at: number, text: string): number {
  const { length } = text;
  if (length > mostByHand) return writeQuoted(bytes, at, text);
  let end = at;
  bytes[end++] = quote;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f || isPlain[unit] === 0) return writeQuoted(bytes, at, text);
    bytes[end++] = unit;
  }
  bytes[end++] = quote;
  return end;
}

function writeQuoted(bytes: Buffer, at: number, text: string): number {
  return at + bytes.write(JSON.stringify(text), at);
}

/** The same of the text that is `source[start, stop)` in well-formed UTF-8. */
export function writeUtf8Text(bytes: Buffer, at: number, source: Buffer, start: number, stop: number): number {
  let end = at;
  bytes[end++] = quote;
  for (let from = start; from < stop; from++) {
    const byte = source[from]!;
    if (isPlain[byte] === 1) bytes[end++] = byte;
    else end = copyBytes(bytes, end, escapes[byte]!, 0, escapes[byte]!.length);
  }
  bytes[end++] = quote;
  return end;
}

/** Whether all that UTF-8 is in JSON as it is. */
export function isAsInJson(source: Buffer, start: number, stop: number): boolean {
  for (let at = start; at < stop; at++) if (isPlain[source[at]!] === 0) return false;
  return true;
}

/** The bytes that `writeUtf8Text` writes. */
export function utf8TextBytes(source: Buffer, start: number, stop: number): number {
  let bytes = stop - start + 2;
  for (let at = start; at < stop; at++) if (isPlain[source[at]!] === 0) bytes += escapes[source[at]!]!.length - 1;
  return bytes;
}
