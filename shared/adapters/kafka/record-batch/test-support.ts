/** Record batches written another way than by `encode.ts`, for tests of what reads them: slow, plain, straight from the protocol's guide. */

export interface PlainRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [string, Uint8Array | null])[];
}

export interface PlainBatch {
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly records: readonly PlainRecord[];
  readonly baseTimestamp?: number;
  readonly maxTimestamp?: number;
  readonly producerId?: bigint;
  /** Bits of the attributes: compression, log append time, transactional, control. */
  readonly attributes?: number;
  /** What is done to the records' bytes. */
  readonly compress?: (bytes: Buffer) => Uint8Array;
}

export function writeBatch(batch: PlainBatch): Buffer {
  const { baseOffset, records, baseTimestamp = 0, maxTimestamp = 0, producerId = -1n, attributes = 0 } = batch;
  const plain = Buffer.concat(records.map((record) => writeRecord(record, baseOffset, baseTimestamp)));
  const covered = Buffer.concat([
    int(attributes, 2),
    int(batch.lastOffset - baseOffset, 4),
    int(baseTimestamp, 8),
    int(maxTimestamp, 8),
    int(producerId, 8),
    int(0, 2),
    int(0, 4),
    int(records.length, 4),
    batch.compress?.(plain) ?? plain,
  ]);
  return Buffer.concat([
    int(baseOffset, 8),
    int(covered.length + 9, 4),
    int(0, 4),
    int(2, 1),
    int(checksum(covered), 4),
    covered,
  ]);
}

/** The batch with which a transaction ends. */
export function writeControlBatch(offset: number, producerId: bigint, outcome: "commit" | "abort"): Buffer {
  const key = Buffer.concat([int(0, 2), int(outcome === "commit" ? 1 : 0, 2)]);
  const record = { offset, timestamp: 0, key, value: Buffer.alloc(6), headers: [] };
  return writeBatch({ baseOffset: offset, lastOffset: offset, records: [record], producerId, attributes: 0x30 });
}

/** Makes the check sum right again after a change. */
export function repair(batch: Buffer): Buffer {
  int(checksum(batch.subarray(21)), 4).copy(batch, 17);
  return batch;
}

function writeRecord(record: PlainRecord, baseOffset: number, baseTimestamp: number): Buffer {
  const { offset, timestamp, key, value, headers } = record;
  const body = Buffer.concat([
    int(0, 1),
    varint(BigInt(timestamp) - BigInt(baseTimestamp)),
    varint(BigInt(offset - baseOffset)),
    sized(key),
    sized(value),
    varint(BigInt(headers.length)),
    ...headers.flatMap(([name, bytes]) => [sized(Buffer.from(name)), sized(bytes)]),
  ]);
  return Buffer.concat([varint(BigInt(body.length)), body]);
}

const sized = (bytes: Uint8Array | null) =>
  bytes === null ? varint(-1n) : Buffer.concat([varint(BigInt(bytes.length)), bytes]);

/** Zigzag, seven bits a byte, the lowest first. */
function varint(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

function int(value: number | bigint, bytes: number): Buffer {
  const wide = Buffer.alloc(8);
  wide.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)));
  return wide.subarray(8 - bytes);
}

/** CRC-32C by its definition. */
function checksum(bytes: Uint8Array): number {
  let remainder = -1;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0x82f63b78 : 0);
  }
  return ~remainder >>> 0;
}
