/** Castagnoli's polynomial, reversed. */
const polynomial = 0x82f63b78;
/** Bytes that one step takes at once. */
const slices = 16;

/** Row `k` holds what a byte does to the remainder when `k` more bytes follow it. */
const tables = makeTables();
const powers = makePowers();

/**
 * CRC-32C of `bytes[start, end)`, as Kafka's record batches carry it; unsigned. Slicing by 16, after Kounavis and Berry, "A Systematic
 * Approach to Building High Performance, Software-based, CRC Generators" (2005). About 2 GB/s in plain JavaScript, a third of what the processor's own
 * instruction does, and for a small batch faster than a call into a native module, which a bundle would have to hold for each architecture.
 * Reads words as the machine has them: little-endian, as every platform of Node that Lambda or a laptop has.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (end - start < 2 * slices) return ~byByte(bytes, start, end, -1) >>> 0;
  const wordsFrom = start + (-(bytes.byteOffset + start) & 3);
  const steps = Math.floor((end - wordsFrom) / slices);
  let remainder = byByte(bytes, start, wordsFrom, -1);
  remainder = byWord(new Int32Array(bytes.buffer, bytes.byteOffset + wordsFrom, steps * 4), remainder);
  return ~byByte(bytes, wordsFrom + steps * slices, end, remainder) >>> 0;
}

/**
 * The CRC-32C of bytes of which only the check sums of two parts are known, and how long the second is. Appending to the first as many zeros is a multiplication by x^(8 × length)
 * modulo the polynomial, as in zlib's `crc32_combine` (Mark Adler).
 */
export function crc32cOfBoth(first: number, second: number, secondBytes: number): number {
  let shifted = first;
  for (let bits = secondBytes, power = 3; bits > 0; bits = Math.floor(bits / 2), power++)
    if (bits % 2 === 1) shifted = multiply(powers[power]!, shifted);
  return (shifted ^ second) >>> 0;
}

/** Product of two polynomials modulo the one of the check sum, all with their highest power in the lowest bit. */
function multiply(one: number, other: number): number {
  let product = 0;
  let shifted = other;
  for (let bit = 31; bit >= 0; bit--) {
    if ((one >>> bit) & 1) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1;
  }
  return product;
}

/** x^(2^k), for as many bits as a length may have, and the three of a byte. */
function makePowers(): number[] {
  const made = [1 << 30];
  while (made.length < 56) made.push(multiply(made.at(-1)!, made.at(-1)!));
  return made;
}

function byByte(bytes: Uint8Array, start: number, end: number, remainder: number): number {
  let r = remainder;
  for (let at = start; at < end; at += 1) r = tables[(r ^ bytes[at]!) & 255]! ^ (r >>> 8);
  return r;
}

/** What follows from the remainder comes last, since nothing else in a step waits for the step before. */
function byWord(words: Int32Array, remainder: number): number {
  const t = tables;
  let r = remainder;
  for (let at = 0; at < words.length; at += 4) {
    const b = words[at + 1]!;
    const c = words[at + 2]!;
    const d = words[at + 3]!;
    const later =
      t[2816 + (b & 255)]! ^
      t[2560 + ((b >>> 8) & 255)]! ^
      t[2304 + ((b >>> 16) & 255)]! ^
      t[2048 + (b >>> 24)]! ^
      t[1792 + (c & 255)]! ^
      t[1536 + ((c >>> 8) & 255)]! ^
      t[1280 + ((c >>> 16) & 255)]! ^
      t[1024 + (c >>> 24)]! ^
      t[768 + (d & 255)]! ^
      t[512 + ((d >>> 8) & 255)]! ^
      t[256 + ((d >>> 16) & 255)]! ^
      t[d >>> 24]!;
    const a = r ^ words[at]!;
    r =
      later ^
      (t[3840 + (a & 255)]! ^ t[3584 + ((a >>> 8) & 255)]!) ^
      (t[3328 + ((a >>> 16) & 255)]! ^ t[3072 + (a >>> 24)]!);
  }
  return r;
}

function makeTables(): Int32Array {
  const made = new Int32Array(slices * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let r = byte;
    for (let bit = 0; bit < 8; bit += 1) r = r & 1 ? (r >>> 1) ^ polynomial : r >>> 1;
    made[byte] = r;
  }
  for (let at = 256; at < made.length; at += 1) {
    const before = made[at - 256]!;
    made[at] = made[before & 255]! ^ (before >>> 8);
  }
  return made;
}
