/*
 * The tokens of JSON (RFC 8259), found in bytes without decoding them. Each function is given the position of a token's first byte, and returns where it ends,
 * or -1 if there is no such token.
 */

/** `true`, `false` and `null`: the first letter of each. */
export const byte = {
  ...{ space: 0x20, quote: 0x22, comma: 0x2c, minus: 0x2d, point: 0x2e, zero: 0x30, nine: 0x39, colon: 0x3a },
  ...{ leftBracket: 0x5b, backslash: 0x5c, rightBracket: 0x5d, leftBrace: 0x7b, rightBrace: 0x7d },
  ...{ true: 0x74, false: 0x66, null: 0x6e },
} as const;

const firstNonAscii = 0x80;

/** Bytes that are a character of a text by themselves: no quote, backslash or control character, and none of those that UTF-8 has for other characters. */
const isPlain = Uint8Array.from({ length: 256 }, (_, at) =>
  Number(at >= byte.space && at < firstNonAscii && at !== byte.quote && at !== byte.backslash),
);
const isHex = flags("0123456789abcdefABCDEF");
const isEscape = flags('"\\/bfnrt');

function flags(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const one of Buffer.from(characters)) set[one] = 1;
  return set;
}

/** Behind the white space that there may be. */
export function afterSpace(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const found = bytes[next]!;
    if (found !== byte.space && found !== 0x0a && found !== 0x0d && found !== 0x09) break;
    next++;
  }
  return next;
}

/** Reads the texts of a document, and keeps what is special about them. */
export class TextReader {
  /** The last text has escapes in it. */
  hasEscapes = false;
  /** Some text so far has characters beyond ASCII: whether they are UTF-8 is for the caller to check. */
  hasWide = false;

  /** Position of the quote that ends the text whose first character is at `from`. */
  endOf(bytes: Uint8Array, from: number, end: number): number {
    this.hasEscapes = false;
    for (let at = from; ; ) {
      while (at < end && isPlain[bytes[at]!] === 1) at++;
      if (at >= end) return -1;
      const found = bytes[at]!;
      if (found === byte.quote) return at;
      if (found >= firstNonAscii) {
        this.hasWide = true;
        at++;
      } else if (found === byte.backslash) {
        this.hasEscapes = true;
        at = afterEscape(bytes, at + 1, end);
        if (at < 0) return -1;
      } else return -1;
    }
  }
}

function afterEscape(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return -1;
  if (isEscape[bytes[at]!] === 1) return at + 1;
  if (bytes[at] !== 0x75 || at + 5 > end) return -1; // "u"
  for (let digit = at + 1; digit < at + 5; digit++) if (isHex[bytes[digit]!] === 0) return -1;
  return at + 5;
}

export function numberEnd(bytes: Uint8Array, from: number, end: number): number {
  const first = bytes[from] === byte.minus ? from + 1 : from;
  let at = digitsEnd(bytes, first, end);
  // No digit, or more of them after a zero.
  if (at === first || (bytes[first] === byte.zero && at > first + 1)) return -1;
  if (at < end && bytes[at] === byte.point) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction, end);
    if (at === fraction) return -1;
  }
  if (at < end && (bytes[at]! | 0x20) === 0x65) {
    at++; // "e" or "E", and perhaps a sign
    if (at < end && (bytes[at] === 0x2b || bytes[at] === byte.minus)) at++;
    const exponent = at;
    at = digitsEnd(bytes, exponent, end);
    if (at === exponent) return -1;
  }
  return at;
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= byte.zero && bytes[at]! <= byte.nine) at++;
  return at;
}

const literals = { true: Buffer.from("true"), false: Buffer.from("false"), null: Buffer.from("null") };

export function literalEnd(bytes: Uint8Array, from: number, end: number, literal: keyof typeof literals): number {
  const expected = literals[literal];
  const to = from + expected.length;
  if (to > end) return -1;
  for (let at = 1; at < expected.length; at++) if (bytes[from + at] !== expected[at]) return -1;
  return to;
}

/** So many digits are an integer that a double holds exactly, and such a power of ten is one, too: their quotient is rounded once, as it should be (Clinger, 1990). */
const exactDigits = 15;
const exactPowers = Array.from({ length: exactDigits + 1 }, (_, power) => 10 ** power);

/** The number that `bytes[from, to)` is, as `JSON.parse` reads it. */
export function numberAt(bytes: Buffer, from: number, to: number): number {
  const isNegative = bytes[from] === byte.minus;
  if (to - from > exactDigits + 1) return Number(bytes.toString("latin1", from, to));
  let digits = 0;
  let power = 0;
  let integer = 0;
  let isFraction = 0;
  for (let at = isNegative ? from + 1 : from; at < to; at++) {
    const found = bytes[at]!;
    if (found >= byte.zero && found <= byte.nine) {
      integer = integer * 10 + (found - byte.zero);
      digits++;
      power += isFraction;
    } else if (found === byte.point) isFraction = 1;
    else return Number(bytes.toString("latin1", from, to));
  }
  if (digits > exactDigits) return Number(bytes.toString("latin1", from, to));
  const size = power === 0 ? integer : integer / exactPowers[power]!;
  return isNegative ? -size : size;
}
