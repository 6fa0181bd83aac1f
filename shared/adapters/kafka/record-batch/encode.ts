import type { MeasuredRowWriter, RowWriter } from "../../../json-bytes/rows.ts";
import { copyBytes } from "../../../utf8.ts";
import { BatchBuffers } from "./batch-buffers.ts";
import { type Compression, compress, compressionTypes } from "./codecs.ts";
import { crc32c, crc32cOfBoth } from "./crc32c.ts";
import { lengthBytes, mostVarintBytes, varintBytes, writeLength, writeVarint } from "./varint.ts";

/**
 * Record batches, version 2, of a producer in transactions: https://kafka.apache.org/documentation/#recordbatch. What a batch says of its producer is
 * filled in when it is sent, so its bytes depend on its records alone (I6). Until then its check sum is that of its records alone.
 */

/** Bytes of a batch before its records. */
export const batchHeaderBytes = 61;
/** Of a record beside key, value and headers: five lengths, a difference of times, its attributes. */
const mostRecordOverhead = 5 * 5 + mostVarintBytes + 1;
/** Room for a value that writes itself, before it is known how long it is. */
const writtenValueBytes = 1024;
const transactional = 0x10;
/** Where things lie in a batch. */
const at = {
  length: 8,
  crc: 17,
  attributes: 21,
  producerId: 43,
  producerEpoch: 51,
  sequence: 53,
  records: 57,
} as const;

/** Timestamp of a record that has none. */
export const noTimestamp = -1;

/** A record to be encoded: the same object for one after the other, since there are many. */
export interface RecordParts {
  /** Epoch milliseconds. */
  timestamp: number;
  /** The key is the `keyBytes` from `keyStart` on; -1: it has none. */
  key: Buffer;
  keyStart: number;
  keyBytes: number;
  /** Text becomes UTF-8. Null is a tombstone. A writer puts the value's bytes in place by itself. */
  value: string | Uint8Array | RowWriter | MeasuredRowWriter | null;
  /** Encoded by `encodeHeaders`. */
  headers: Uint8Array;
}

const noBytes = Buffer.alloc(0);

/** Encodes records straight into a batch's bytes, which grow with them. */
export class BatchEncoder {
  readonly #buffers: BatchBuffers;
  /** Buffers of batches that were taken. */
  #lent: Buffer[] = [];
  #bytes: Buffer = noBytes;
  /** Bytes of the buffer of the batch before: the next one will have as many. */
  #usual = 0;
  #end = batchHeaderBytes;
  #count = 0;
  #valueBytes = 0;
  /** Numbers with a point from the start, as V8 has them: another kind would be another shape of the object. */
  #baseTimestamp = Number.NaN;
  #maxTimestamp = Number.NaN;

  constructor(buffers = new BatchBuffers()) {
    this.#buffers = buffers;
  }

  /** Records so far. */
  get count(): number {
    return this.#count;
  }

  /** Bytes so far, uncompressed. */
  get bytes(): number {
    return this.#end;
  }

  /**
   * Adds a record, unless the batch would then have more bytes than `most`. Returns how many it has, or would have had; -1: its value is a writer that cannot write it, and nothing
   * is added.
   */
  add(record: RecordParts, most: number): number {
    const { value, keyBytes, headers } = record;
    if (isMeasured(value)) return this.#addMeasured(record, value, most);
    this.#reserve(Math.max(keyBytes, 0) + mostBytesOf(value) + headers.length + mostRecordOverhead);
    const end = this.#write(record);
    if (end >= 0 && end <= most) this.#added(record.timestamp, end);
    return end;
  }

  /** The batch, where there is a record in it, without its producer. It is good until `release`. The next record begins another. */
  take(compression: Compression): Buffer {
    const raw = this.#bytes.subarray(0, this.#end);
    const records = raw.subarray(batchHeaderBytes);
    const compressed = compress(compression, records);
    // What compression makes longer stays as it is: so a batch under a topic's limit is under it when it is sent.
    const isShorter = compressed.length < records.length;
    const batch = isShorter ? Buffer.concat([raw.subarray(0, batchHeaderBytes), compressed]) : raw;
    this.#writeHeader(batch, isShorter ? compression : "none");
    if (!isShorter) this.#lend();
    this.#end = batchHeaderBytes;
    this.#count = 0;
    return batch;
  }

  /** Nobody looks at what was taken any more: others may have the memory. */
  release(): void {
    this.#lend();
    for (const buffer of this.#lent) this.#buffers.give(buffer);
    this.#lent = [];
    this.#end = batchHeaderBytes;
    this.#count = 0;
  }

  #lend(): void {
    if (this.#bytes.length > 0) this.#lent.push(this.#bytes);
    this.#usual = this.#bytes.length;
    this.#bytes = noBytes;
  }

  #added(timestamp: number, end: number): void {
    if (this.#count === 0) this.#baseTimestamp = this.#maxTimestamp = timestamp;
    else if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp;
    this.#count++;
    this.#end = end;
  }

  /**
   * Adds a record whose value has just been measured, if it is not the batch's first, and there is memory for it: for nearly all records, and nothing in it is rare, so that V8 need
   * not compile it anew. False: nothing is added, and `add` is to be called.
   */
  addNext(record: RecordParts, value: MeasuredRowWriter, valueBytes: number, most: number): boolean {
    if (this.#count === 0) return false;
    const size = this.#sizeOf(record, valueBytes);
    const end = this.#end + lengthBytes(size) + size;
    if (end > most || end > this.#bytes.length) return false;
    this.#putMeasured(record, value, valueBytes, size, end);
    return true;
  }

  #addMeasured(record: RecordParts, value: MeasuredRowWriter, most: number): number {
    const valueBytes = value.measure();
    if (valueBytes < 0) return -1;
    if (this.#count === 0) this.#baseTimestamp = this.#maxTimestamp = record.timestamp;
    const size = this.#sizeOf(record, valueBytes);
    const end = this.#end + lengthBytes(size) + size;
    if (end > most) return end;
    this.#reserve(end - this.#end);
    this.#putMeasured(record, value, valueBytes, size, end);
    return end;
  }

  #sizeOf({ timestamp, keyBytes, headers }: RecordParts, valueBytes: number): number {
    return recordBytes(this.#bytesBeside(timestamp - this.#baseTimestamp, keyBytes, headers.length), valueBytes);
  }

  #putMeasured(record: RecordParts, value: MeasuredRowWriter, valueBytes: number, size: number, end: number): void {
    const { timestamp, headers } = record;
    const bytes = this.#bytes;
    const valueAt = this.#writeBeforeValue(record, timestamp - this.#baseTimestamp, size, valueBytes);
    copyBytes(bytes, value.put(bytes, valueAt), headers, 0, headers.length);
    if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp;
    this.#count++;
    this.#end = end;
  }

  /**
   * How many bytes a value takes is known only once it is written, but lengths stand before it: room is left for those of a value as long as the last one, which is mostly right;
   * else the value is moved.
   */
  #write(record: RecordParts): number {
    const { timestamp, keyBytes, value, headers } = record;
    const bytes = this.#bytes;
    const timeDelta = this.#count === 0 ? 0 : timestamp - this.#baseTimestamp;
    const beside = this.#bytesBeside(timeDelta, keyBytes, headers.length);
    const assumedAt = this.#end + bytesBefore(beside, this.#valueBytes, headers.length);
    const limit = bytes.length - headers.length - mostRecordOverhead;
    const written = value === null ? assumedAt : writeValue(bytes, assumedAt, limit, value);
    if (written < 0) return -1;
    const valueBytes = value === null ? -1 : written - assumedAt;
    const valueAt = this.#end + bytesBefore(beside, valueBytes, headers.length);
    if (valueAt !== assumedAt) bytes.copyWithin(valueAt, assumedAt, written);
    this.#valueBytes = valueBytes;
    const end = this.#writeBeforeValue(record, timeDelta, recordBytes(beside, valueBytes), valueBytes);
    return copyBytes(bytes, end + Math.max(valueBytes, 0), headers, 0, headers.length);
  }

  /** Bytes of a record after its length, without its value and the length of that. */
  #bytesBeside(timeDelta: number, keyBytes: number, headerBytes: number): number {
    const lengths = varintBytes(timeDelta) + lengthBytes(this.#count) + lengthBytes(keyBytes);
    return 1 + lengths + Math.max(keyBytes, 0) + headerBytes;
  }

  /** Returns the place of the value. */
  #writeBeforeValue(
    { key, keyStart, keyBytes }: RecordParts,
    timeDelta: number,
    size: number,
    valueBytes: number,
  ): number {
    const bytes = this.#bytes;
    let end = writeLength(bytes, this.#end, size);
    bytes[end++] = 0; // attributes, of which there are none
    end = writeVarint(bytes, end, timeDelta);
    end = writeLength(bytes, end, this.#count);
    end = writeLength(bytes, end, keyBytes);
    if (keyBytes > 0) end = copyBytes(bytes, end, key, keyStart, keyStart + keyBytes);
    return writeLength(bytes, end, valueBytes);
  }

  #writeHeader(batch: Buffer, compression: Compression): void {
    batch.fill(0, 0, batchHeaderBytes);
    batch.writeInt32BE(batch.length - at.length - 4, at.length);
    batch.writeInt32BE(-1, 12); // leader epoch, the broker's
    batch.writeInt8(2, 16);
    batch.writeInt16BE(compressionTypes.indexOf(compression) | transactional, at.attributes);
    batch.writeInt32BE(this.#count - 1, 23);
    batch.writeBigInt64BE(BigInt(this.#baseTimestamp), 27);
    batch.writeBigInt64BE(BigInt(this.#maxTimestamp), 35);
    batch.fill(0xff, at.producerId, at.records);
    batch.writeInt32BE(this.#count, at.records);
    batch.writeUInt32BE(crc32c(batch, batchHeaderBytes), at.crc);
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed > this.#bytes.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    const larger = this.#buffers.take(Math.max(needed, this.#usual));
    this.#bytes.copy(larger, 0, 0, this.#end);
    if (this.#bytes.length > 0) this.#buffers.give(this.#bytes);
    this.#bytes = larger;
  }
}

/** Bytes of a record after its length. @param beside without the value and its length */
function recordBytes(beside: number, valueBytes: number): number {
  return beside + lengthBytes(valueBytes) + Math.max(valueBytes, 0);
}

/** Bytes of a record before its value. */
function bytesBefore(beside: number, valueBytes: number, headerBytes: number): number {
  return lengthBytes(recordBytes(beside, valueBytes)) + beside - headerBytes + lengthBytes(valueBytes);
}

/** UTF-8 has at most three bytes for what is one in a string's length. */
function mostBytesOf(value: RecordParts["value"]): number {
  if (value === null) return 0;
  if (typeof value === "string") return 3 * value.length;
  return value instanceof Uint8Array ? value.length : writtenValueBytes;
}

const isMeasured = (value: RecordParts["value"]): value is MeasuredRowWriter =>
  typeof value === "object" && value !== null && "measure" in value;

function writeValue(bytes: Buffer, at: number, limit: number, value: string | Uint8Array | RowWriter): number {
  if (typeof value === "string") return at + bytes.write(value, at);
  return value instanceof Uint8Array ? copyBytes(bytes, at, value, 0, value.length) : value.write(bytes, at, limit);
}

/** Headers of a record, count included. */
export function encodeHeaders(
  headers: readonly (readonly [name: string, value: string | Uint8Array | null])[],
): Uint8Array {
  const parts: Uint8Array[] = [lengthOf(headers.length)];
  for (const pair of headers)
    for (const one of pair) {
      if (one === null) {
        parts.push(lengthOf(-1));
        continue;
      }
      const bytes = typeof one === "string" ? Buffer.from(one) : one;
      parts.push(lengthOf(bytes.length), bytes);
    }
  return Buffer.concat(parts);
}

function lengthOf(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(5);
  return bytes.subarray(0, writeLength(bytes, 0, value));
}

/**
 * Fills in who sends a batch, in a transaction or not, and which of its records to the partition the first is.
 *
 * @param recordsChecksum CRC-32C of its records, where it is known
 */
export function stampBatch(
  batch: Buffer,
  producer: { readonly producerId: bigint; readonly producerEpoch: number; readonly transactionalId?: string },
  sequence: number,
  recordsChecksum = crc32c(batch, batchHeaderBytes),
): void {
  const attributes = batch.readInt16BE(at.attributes);
  const isTransactional = producer.transactionalId !== undefined;
  batch.writeInt16BE(isTransactional ? attributes | transactional : attributes & ~transactional, at.attributes);
  batch.writeBigInt64BE(producer.producerId, at.producerId);
  batch.writeInt16BE(producer.producerEpoch, at.producerEpoch);
  batch.writeInt32BE(sequence, at.sequence);
  const header = crc32c(batch, at.attributes, batchHeaderBytes);
  batch.writeUInt32BE(crc32cOfBoth(header, recordsChecksum, batch.length - batchHeaderBytes), at.crc);
}

/** What an encoder has put into a batch that has not been stamped yet. */
export const recordsChecksumIn = (batch: Buffer): number => batch.readUInt32BE(at.crc);

/** Whether the records of such a batch are those that the encoder put there. */
export const hasItsRecords = (batch: Buffer): boolean => crc32c(batch, batchHeaderBytes) === recordsChecksumIn(batch);

export const recordsIn = (batch: Buffer): number => batch.readInt32BE(at.records);

/** Sequence numbers begin again at 0 after 2^31 - 1. */
export const sequenceAfter = (sequence: number, records: number): number => (sequence + records) % 2 ** 31;

/** The batches that lie one after the other. Undefined if the bytes are no whole batches. */
export function splitBatches(bytes: Buffer): { readonly batch: Buffer; readonly records: number }[] | undefined {
  const batches = [];
  let start = 0;
  while (bytes.length - start >= batchHeaderBytes) {
    const end = start + at.length + 4 + bytes.readInt32BE(start + at.length);
    if (end < start + batchHeaderBytes || end > bytes.length) return undefined;
    batches.push({ batch: bytes.subarray(start, end), records: recordsIn(bytes.subarray(start, end)) });
    start = end;
  }
  return start === bytes.length ? batches : undefined;
}
