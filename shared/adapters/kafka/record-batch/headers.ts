/**
 * The headers of a record, which begin at `start`: a count, and for each a key and a value. A value of null is given as an empty one; of equal keys the
 * last counts.
 *
 * @throws RangeError if they are malformed
 */
export function readHeaders(bytes: Buffer, start: number): Record<string, Uint8Array> {
  const headers: Record<string, Uint8Array> = Object.create(null);
  let at = start;
  /** Refuses what lies beyond the buffer. */
  const varint = () => {
    let bits = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(at++);
      bits |= (byte & 127) << shift;
      if (byte < 128) return (bits >>> 1) ^ -(bits & 1);
    }
  };
  const take = (length: number) => {
    const end = at + Math.max(length, 0);
    const taken = bytes.subarray(at, end);
    at = end;
    return taken;
  };
  for (let left = varint(); left > 0; left -= 1) {
    const key = take(varint()).toString();
    headers[key] = take(varint());
  }
  return headers;
}
