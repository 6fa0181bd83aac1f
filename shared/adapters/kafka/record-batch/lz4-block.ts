/**
 * LZ4's block format (github.com/lz4/lz4, doc/lz4_Block_format.md): sequences of a token, literals, and a match within the 64 KiB before.
 * Ours, since of the packages lz4js writes matches that begin too near to a block's end, which the reference decoder refuses, those of WebAssembly have no
 * frames or a file beside them, and native ones need a binary for each architecture. As fast as any of them.
 */

const minMatch = 4;
/** A block's last bytes are literals. */
const lastLiterals = 5;
/** The last match begins at least so far before the end. */
const matchMargin = 12;
/** Below it a loop copies faster than a call. */
const shortCopy = 24;

const hashBits = 14;
const positions = new Int32Array(1 << hashBits);

/** Most bytes that a block of so many bytes takes. */
export const blockBound = (bytes: number): number => bytes + Math.ceil(bytes / 255) + 16;

/** Writes `source[from, to)`, at most 64 KiB, as one block at `target[at]`, where `blockBound` bytes must be free; gives the block's end. */
export function compressBlock(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  positions.fill(-1);
  let out = at;
  let literals = from;
  let misses = 0;
  for (let position = from; position < to - matchMargin; ) {
    const word = read32(source, position);
    const slot = Math.imul(word, 0x9e3779b1) >>> (32 - hashBits);
    const candidate = positions[slot]!;
    positions[slot] = position;
    if (candidate < 0 || read32(source, candidate) !== word) {
      // What does not compress is passed in growing steps.
      position += 1 + (misses++ >> 6);
      continue;
    }
    misses = 0;
    let end = position + minMatch;
    for (let match = candidate + minMatch; end < to - lastLiterals && source[end] === source[match]; match += 1)
      end += 1;
    out = writeSequence(source, literals, position, target, out, position - candidate, end - position);
    literals = end;
    position = end;
  }
  return writeSequence(source, literals, to, target, out, 0, 0);
}

/** A `distance` of 0: the last sequence, which has no match. */
function writeSequence(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
  distance: number,
  matchLength: number,
): number {
  const literals = to - from;
  const extra = distance === 0 ? 0 : matchLength - minMatch;
  let out = at;
  target[out++] = (Math.min(literals, 15) << 4) | Math.min(extra, 15);
  if (literals >= 15) out = writeLength(target, out, literals - 15);
  for (let position = from; position < to; position += 1) target[out++] = source[position]!;
  if (distance === 0) return out;
  target[out++] = distance & 255;
  target[out++] = distance >> 8;
  return extra >= 15 ? writeLength(target, out, extra - 15) : out;
}

function writeLength(target: Uint8Array, at: number, length: number): number {
  let out = at;
  let rest = length;
  for (; rest >= 255; rest -= 255) target[out++] = 255;
  target[out++] = rest;
  return out;
}

function read32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/**
 * Inflates the block `source[from, to)` to `target[at]`; gives the end of what it wrote. Matches may reach back to the beginning of `target`, as blocks that
 * depend on those before do.
 *
 * @throws RangeError if the block is malformed, or does not fit
 */
export function decompressBlock(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  let position = from;
  let out = at;
  while (position < to) {
    const token = source[position++]!;
    let literals = token >> 4;
    if (literals === 15) {
      let more = 255;
      for (; more === 255 && position < to; literals += more) more = source[position++]!;
    }
    if (literals > to - position || literals > target.length - out) throw malformed();
    if (literals > shortCopy) {
      target.set(source.subarray(position, position + literals), out);
      position += literals;
      out += literals;
    } else for (const end = out + literals; out < end; ) target[out++] = source[position++]!;
    if (position === to) return out;

    if (to - position < 2) throw malformed();
    const distance = source[position]! | (source[position + 1]! << 8);
    position += 2;
    let length = token & 15;
    if (length === 15) {
      let more = 255;
      for (; more === 255 && position < to; length += more) more = source[position++]!;
    }
    length += minMatch;
    if (distance === 0 || distance > out || length > target.length - out) throw malformed();
    // A match may reach into itself: then it repeats, which only a loop does.
    if (length > shortCopy && distance >= length) {
      target.copyWithin(out, out - distance, out - distance + length);
      out += length;
    } else for (const end = out + length; out < end; out += 1) target[out] = target[out - distance]!;
  }
  throw malformed();
}

const malformed = () => new RangeError("a malformed LZ4 block");
