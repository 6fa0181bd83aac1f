/** Record batches read in the plainest way, for tests: by the text of the format, and with none of the code that is under test but its codecs. */
import { decompress } from "../../../shared/adapters/kafka/record-batch/codecs.ts";

export interface PlainRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [string, Buffer])[];
}

export interface PlainBatch {
  readonly baseOffset: number;
  readonly crc: number;
  readonly compression: number;
  readonly transactional: boolean;
  readonly control: boolean;
  readonly maxTimestamp: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly sequence: number;
  readonly records: readonly PlainRecord[];
  readonly bytes: Buffer;
}

/** All whole batches; what begins after them is left out, as brokers leave it. */
export function readBatches(bytes: Buffer): PlainBatch[] {
  const batches: PlainBatch[] = [];
  for (let at = 0; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readInt32BE(at + 8);
    if (end > bytes.length) break;
    batches.push(readBatch(bytes.subarray(at, end)));
    at = end;
  }
  return batches;
}

function readBatch(bytes: Buffer): PlainBatch {
  if (bytes[16] !== 2) throw new Error(`version ${bytes[16]}`);
  const attributes = bytes.readInt16BE(21);
  const baseOffset = Number(bytes.readBigInt64BE(0));
  const baseTimestamp = bytes.readBigInt64BE(27);
  const count = bytes.readInt32BE(57);
  const body = new Reader(decompress(attributes & 7, bytes.subarray(61), 1 << 28));
  const records = Array.from({ length: count }, () => readRecord(body, baseOffset, baseTimestamp));
  if (body.at !== body.bytes.length) throw new Error("there is something after the last record");
  const last = records.at(-1);
  if (last && last.offset !== baseOffset + bytes.readInt32BE(23)) throw new Error("the last offset is wrong");
  return {
    baseOffset,
    crc: bytes.readUInt32BE(17),
    compression: attributes & 7,
    transactional: (attributes & 16) !== 0,
    control: (attributes & 32) !== 0,
    maxTimestamp: Number(bytes.readBigInt64BE(35)),
    producerId: bytes.readBigInt64BE(43),
    producerEpoch: bytes.readInt16BE(51),
    sequence: bytes.readInt32BE(53),
    records,
    bytes,
  };
}

function readRecord(body: Reader, baseOffset: number, baseTimestamp: bigint): PlainRecord {
  const length = Number(body.varint());
  const end = body.at + length;
  if (body.take(1)[0] !== 0) throw new Error("a record has no attributes");
  const timestamp = Number(baseTimestamp + body.varint());
  const offset = baseOffset + Number(body.varint());
  const key = body.sized();
  const value = body.sized();
  const headers = Array.from({ length: Number(body.varint()) }, () => {
    const name = body.sized()!.toString();
    return [name, body.sized()!] as const;
  });
  if (body.at !== end) throw new Error("the record has another length than it says");
  return { offset, timestamp, key, value, headers };
}

class Reader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  take(length: number): Buffer {
    const taken = this.bytes.subarray(this.at, this.at + length);
    if (taken.length !== length) throw new Error("too short");
    this.at += length;
    return taken;
  }

  varint(): bigint {
    let zigzag = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte] = this.take(1);
      zigzag |= BigInt(byte! & 127) << shift;
      if (byte! < 128) break;
    }
    return (zigzag >> 1n) ^ -(zigzag & 1n);
  }

  sized(): Buffer | null {
    const length = Number(this.varint());
    return length === -1 ? null : this.take(length);
  }
}
