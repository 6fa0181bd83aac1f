/*
 * Most keys are short: up to so many bytes they are told by three words of four bytes, little-endian, of which what is behind their end does not count. So they are hashed and compared without a
 * loop, and without a branch for each length.
 */
export const wholeBytes = 12;

/**
 * Of a key with n bytes the first word counts by the mask `n + 8`, the second by `n + 4`, the third by `n`.
 */
export const masks = Int32Array.from({ length: 21 }, (_, index) => 2 ** (8 * Math.min(4, Math.max(0, index - 8))) - 1);
