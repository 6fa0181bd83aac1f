import type { RecordHeader } from "../../../ports/source.ts";

/**
 * The headers of a record, which begin at `start`: a count, and for each a key and a value.
 *
 * @throws RangeError if they are malformed
 */
export function readHeaders(bytes: Buffer, start: number): RecordHeader[] {
  const headers: RecordHeader[] = [];
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
    const end = at + length;
    const taken = bytes.subarray(at, end);
    at = end;
    return taken;
  };
  for (let left = varint(); left > 0; left -= 1) {
    const name = take(Math.max(varint(), 0)).toString();
    const length = varint();
    headers.push([name, length < 0 ? null : take(length)]);
  }
  return headers;
}
