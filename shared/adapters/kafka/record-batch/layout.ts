/**
 * Where the fields of a record batch lie, message format v2 (Kafka protocol, "Record Batch"). Its check sum covers everything from the
 * attributes on, so the base offset, which the broker sets, is outside of it.
 */
export const at = {
  baseOffset: 0,
  /** Bytes after this field. */
  length: 8,
  leaderEpoch: 12,
  /** The same place in formats v0 and v1. */
  magic: 16,
  checksum: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
  records: 61,
} as const;

/** The offset and length before what the length counts. */
export const prefixBytes = 12;
export const magic = 2;

export const attribute = {
  compression: 0x07,
  logAppendTime: 0x08,
  transactional: 0x10,
  control: 0x20,
} as const;

/** A 64-bit number of a batch's header; exact below 2^53. */
export function readInt64(bytes: Buffer, position: number): number {
  return bytes.readInt32BE(position) * 2 ** 32 + bytes.readUInt32BE(position + 4);
}
