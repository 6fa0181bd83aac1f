const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/** MurmurHash2 of `bytes[start, end)` as Kafka's `Utils.murmur2` has it, after Austin Appleby: a signed 32-bit number. */
export function murmur2(bytes: Buffer, start = 0, end = bytes.length): number {
  const length = end - start;
  const whole = start + (length & ~3);
  let hash = seed ^ length;
  for (let at = start; at < whole; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    const mixed = Math.imul(word, multiplier);
    hash = Math.imul(hash, multiplier) ^ Math.imul(mixed ^ (mixed >>> 24), multiplier);
  }
  if (end > whole) {
    for (let at = end - 1; at >= whole; at--) hash ^= bytes[at]! << (8 * (at - whole));
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}

/** A hash's place among so many: of a key's, its partition, as Java's default partitioner has it (`BuiltInPartitioner.partitionForKey`). */
export const placeOf = (hash: number, places: number): number => (hash & 0x7fffffff) % places;

/**
 * The hash of a record without a key is that of its value and its time: anything else would depend on how rows are cut into tasks and batches (I6).
 *
 * @param bytes the value is `bytes[start, end)`
 */
export function keylessHash(bytes: Buffer, start: number, end: number, timestamp: number): number {
  return murmur2(bytes, start, end) ^ Math.imul(timestamp, 0x9e3779b1);
}
