/** Bytes to look for: those that are below `below` (at most 128) once their bits are flipped where `byte` has ones. */
export interface Wanted {
  /** Four times the byte. */
  readonly pattern: number;
  /** Four times what takes a byte of seven bits to the eighth one, unless it is below. */
  readonly addend: number;
}

export function wanted(byte: number, below: number): Wanted {
  return { pattern: Math.imul(byte, 0x0101_0101), addend: Math.imul(128 - below, 0x0101_0101) };
}

/** Bytes that `findBytes` looks at together. */
export const blockBytes = 16;

/**
 * Where there are wanted bytes among `[at, end)`, no further than `blockBytes` from `at`: bit i stands for `at + i`. Four bytes of a word are compared together: nothing is carried
 * from one to the next (Warren, Hacker's Delight, 6-1). A multiplication gathers their highest bits.
 *
 * Words are written out, and numbers come one by one, so that V8 makes it part of the loop that calls it.
 *
 * @param size bytes of the view: to ask it takes long
 */
export function findBytes(
  view: DataView,
  size: number,
  at: number,
  end: number,
  pattern: number,
  addend: number,
): number {
  if (at + blockBytes > size) return findOneByOne(view, at, end, pattern, addend);
  const a = view.getInt32(at, true) ^ pattern;
  const b = view.getInt32(at + 4, true) ^ pattern;
  const c = view.getInt32(at + 8, true) ^ pattern;
  const d = view.getInt32(at + 12, true) ^ pattern;
  const found =
    (Math.imul((~(((a & lowBits) + addend) | a) >>> 7) & ones, gather) >>> 28) |
    ((Math.imul((~(((b & lowBits) + addend) | b) >>> 7) & ones, gather) >>> 28) << 4) |
    ((Math.imul((~(((c & lowBits) + addend) | c) >>> 7) & ones, gather) >>> 28) << 8) |
    ((Math.imul((~(((d & lowBits) + addend) | d) >>> 7) & ones, gather) >>> 28) << 12);
  return end - at < blockBytes ? found & ((1 << (end - at)) - 1) : found;
}

const lowBits = 0x7f7f_7f7f;
const ones = 0x0101_0101;
/** Takes the lowest bits of four bytes to the highest four bits of a word. */
const gather = 0x1020_4080;

/** Close to the end of the view. */
function findOneByOne(view: DataView, at: number, end: number, pattern: number, addend: number): number {
  let found = 0;
  for (let index = 0; at + index < end; index++) {
    const byte = view.getUint8(at + index) ^ (pattern & 0xff);
    if (byte + (addend & 0xff) < 128) found |= 1 << index;
  }
  return found;
}

/** The first place that is among what was found: the number of its bit. */
export function firstOf(found: number): number {
  return 31 - Math.clz32(found & -found);
}
