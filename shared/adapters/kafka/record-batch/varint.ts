/** Zigzag varints of record batch v2 (those of protocol buffers), written to a buffer that has room for them. */

/** Longest varint of 64 bits. */
export const mostVarintBytes = 10;

/** Bytes of a length or a count: of a whole number from -1 to 2^30. */
export function lengthBytes(value: number): number {
  const zigzag = (value << 1) ^ (value >> 31);
  if (zigzag < 0x80) return 1;
  if (zigzag < 0x4000) return 2;
  if (zigzag < 0x20_0000) return 3;
  return zigzag < 0x1000_0000 ? 4 : 5;
}

/** Writes a length or a count, a whole number from -1 to 2^30; returns the place after it. */
export function writeLength(bytes: Uint8Array, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let end = at;
  for (; rest > 127; rest >>>= 7) bytes[end++] = (rest & 127) | 128;
  bytes[end++] = rest;
  return end;
}

/** Bytes of any whole number that is exact, such as a difference of times. */
export function varintBytes(value: number): number {
  if (value >= -0x2000_0000 && value < 0x2000_0000) return lengthBytes(value);
  let bytes = 1;
  for (let rest = Math.floor(magnitude(value) / 64); rest > 0; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Writes any whole number that is exact. Twice the number may not be, so its bits are taken one byte at a time. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value >= -0x2000_0000 && value < 0x2000_0000) return writeLength(bytes, at, value);
  let rest = Math.floor(magnitude(value) / 64);
  let low = (magnitude(value) % 64) * 2 + (value < 0 ? 1 : 0);
  let end = at;
  while (rest > 0) {
    bytes[end++] = low | 128;
    low = rest % 128;
    rest = Math.floor(rest / 128);
  }
  bytes[end++] = low;
  return end;
}

/** The zigzag code without its lowest bit, which says that the number is negative. */
const magnitude = (value: number): number => (value < 0 ? -value - 1 : value);
