/** Bytes of a key that are compared at once, and so may be read behind the last one. */
export const readAhead = 12;

/** Masks of the first bytes of a word of four: for -8 bytes, and so none, up to 12, and so all. */
const masks = Int32Array.from({ length: 21 }, (_, index) => 2 ** (8 * Math.min(4, Math.max(0, index - 8))) - 1);

/**
 * Whether the key of this length at `at` is the byte `tag` and what begins at `start` in the other view. Most keys are short: they are compared as three words of
 * four bytes, of which what is behind their end does not count, without a branch for each length.
 */
export function equalKeys(
  own: DataView,
  at: number,
  length: number,
  tag: number,
  view: DataView,
  start: number,
): boolean {
  if (length > readAhead || start + readAhead > view.byteLength) {
    if (own.getUint8(at) !== tag) return false;
    for (let next = 1; next < length; next++)
      if (own.getUint8(at + next) !== view.getUint8(start + next - 1)) return false;
    return true;
  }
  const first = own.getInt32(at, true) ^ (tag | (view.getInt32(start, true) << 8));
  const second = own.getInt32(at + 4, true) ^ view.getInt32(start + 3, true);
  const third = own.getInt32(at + 8, true) ^ view.getInt32(start + 7, true);
  return ((first & masks[length + 8]!) | (second & masks[length + 4]!) | (third & masks[length]!)) === 0;
}
