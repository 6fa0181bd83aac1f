import { LossError } from "../../../errors.ts";
import type { RecordBatch } from "../../../ports/source.ts";
import { AbortedFilter, type AbortedTransaction } from "./aborted.ts";
import { compressionTypes, decompress, InflationError } from "./codecs.ts";
import { Columns, type RecordSpan } from "./columns.ts";
import { crc32c } from "./crc32c.ts";
import { readHeaders } from "./headers.ts";
import { at, attribute, magic, prefixBytes, readInt64 } from "./layout.ts";

/** So many bytes of records at most, and one batch, are handed out at once, so that a turn of the event loop stays short. */
const turnBytes = 1024 * 1024;
/** Each of a record's seven fields takes a byte at least. */
const minRecordBytes = 7;

/** What a Fetch response holds of one partition. */
export interface FetchedRecords {
  /** Whole batches and perhaps the beginning of one more; may begin below the offset that was asked for. */
  readonly records: Buffer;
  /** Transactions whose batches are left out; empty for a reader of uncommitted records. */
  readonly aborted: readonly AbortedTransaction[];
}

interface Span extends RecordSpan {
  readonly bytes: Buffer;
  readonly maxTimestamp: number;
  /** Why its records cannot be had: they are one row together. */
  readonly refused: string | undefined;
}

/**
 * Record batches of one partition (message format v2, KIP-98) as columns. All batches of a response become one where they are not too large: a consumer
 * pays for each. Uncompressed records are views of the response.
 */
export class Decoder {
  readonly #partition: string;
  readonly #maxBatchBytes: number;
  readonly #columns = new Columns();

  /** @param maxBatchBytes a batch that inflates to more is one row, which follows `onError` */
  constructor(partition: string, options: { readonly maxBatchBytes: number }) {
    this.#partition = partition;
    this.#maxBatchBytes = options.maxBatchBytes;
  }

  /**
   * The records with offsets in `[from, to)`; control batches and those of aborted transactions are left out. What is handed out is good until the next is
   * asked for. Ends at `to` or where the whole batches end, and gives nothing if there is none.
   *
   * @throws LossError `kafka-batch-corrupt`, `kafka-message-format`
   */
  *decode(fetched: FetchedRecords, from: number, to: number): Generator<RecordBatch> {
    const { records } = fetched;
    const filter = new AbortedFilter(fetched.aborted);
    let spans: Span[] = [];
    let bytes = 0;
    let next = from;
    for (let start = 0; next < to; ) {
      const end = this.#endOfBatch(records, start);
      if (end === undefined) break;
      const batch = records.subarray(start, end);
      this.#check(batch);
      const last = lastOffset(batch);
      if (isWanted(batch, filter) && readInt64(batch, at.baseOffset) < to && last >= from) {
        const span = this.#span(records, start, end);
        spans.push(span);
        bytes += span.end - span.start;
      }
      next = Math.min(last + 1, to);
      start = end;
      if (bytes >= turnBytes) {
        yield this.#toBatch(spans, from, next);
        spans = [];
        bytes = 0;
      }
    }
    if (spans.length > 0 || next > from) yield this.#toBatch(spans, from, next);
  }

  /** Undefined: the batch is not whole, as the last of a response may be. */
  #endOfBatch(records: Buffer, start: number): number | undefined {
    if (records.length - start < at.magic + 1) return undefined;
    const length = records.readInt32BE(start + at.length);
    const end = start + prefixBytes + length;
    const offset = readInt64(records, start);
    if (records[start + at.magic]! < magic) throw this.#oldFormat(records[start + at.magic]!, offset);
    if (length < at.records - prefixBytes) throw this.#corrupt(offset, "its length is impossible");
    return end <= records.length ? end : undefined;
  }

  #check(batch: Buffer): void {
    const offset = readInt64(batch, at.baseOffset);
    if (batch[at.magic] !== magic) throw this.#corrupt(offset, `its message format, ${batch[at.magic]}, is unknown`);
    if (crc32c(batch, at.attributes) !== batch.readUInt32BE(at.checksum))
      throw this.#corrupt(offset, "its check sum (CRC-32C) is wrong");
  }

  #span(records: Buffer, start: number, end: number): Span {
    const batch = records.subarray(start, end);
    const attributes = batch.readInt16BE(at.attributes);
    const maxTimestamp = readInt64(batch, at.maxTimestamp);
    const type = attributes & attribute.compression;
    const span = {
      count: batch.readInt32BE(at.count),
      baseOffset: readInt64(batch, at.baseOffset),
      baseTimestamp: readInt64(batch, at.baseTimestamp),
      timestamp: attributes & attribute.logAppendTime ? maxTimestamp : undefined,
      maxTimestamp,
      refused: undefined,
    };
    if (type === 0) return this.#counted({ ...span, bytes: records, start: start + at.records, end });
    let bytes: Buffer;
    try {
      bytes = decompress(type, batch.subarray(at.records), this.#maxBatchBytes);
    } catch (error) {
      if (!(error instanceof InflationError))
        throw this.#corrupt(span.baseOffset, `its ${compressionTypes[type] ?? "unknown"} compression is broken`, error);
      const refused = `the batch of ${span.count} records at offset ${span.baseOffset} is refused: ${error.message}`;
      return { ...span, bytes: records, start: 0, end: 0, refused };
    }
    return this.#counted({ ...span, bytes, start: 0, end: bytes.length });
  }

  /** Checked before room is made for so many rows. */
  #counted(span: Span): Span {
    if (span.count * minRecordBytes > span.end - span.start)
      throw this.#corrupt(span.baseOffset, `it cannot hold ${span.count} records`);
    return span;
  }

  #toBatch(spans: readonly Span[], from: number, next: number): RecordBatch {
    const columns = this.#columns;
    columns.reset(spans.reduce((rows, { count }) => rows + count, spans.length));
    const { bytes, moved } = together(spans);
    const errors = new Map<number, string>();
    for (const span of moved) {
      if (span.refused !== undefined) {
        errors.set(columns.count, span.refused);
        columns.addEmpty(Math.max(span.baseOffset, from), span.maxTimestamp);
        continue;
      }
      try {
        columns.add(bytes, span, from, next);
      } catch (error) {
        throw this.#corrupt(span.baseOffset, error instanceof Error ? error.message : String(error), error);
      }
    }
    const { count, offsets, timestamps, keyStart, keyEnd, valueStart, valueEnd, headersStart } = columns;
    const headers = (row: number) => (headersStart[row]! < 0 ? [] : readHeaders(bytes, headersStart[row]!));
    const known = { bytes, count, valueStart, valueEnd, keyStart, keyEnd, offsets, timestamps, headers, next };
    return errors.size === 0 ? known : { ...known, errors };
  }

  #corrupt(offset: number, what: string, cause?: unknown): LossError {
    return new LossError(
      "kafka-batch-corrupt",
      `The batch at offset ${offset} of ${this.#partition} is corrupt: ${what}`,
      {
        wayOut:
          "If it stays after a retry, the log on the leader's disk is damaged: make a healthy replica the leader, or restore the topic.",
        place: { partition: this.#partition, offset },
        cause,
      },
    );
  }

  #oldFormat(version: number, offset: number): LossError {
    return new LossError(
      "kafka-message-format",
      `Offset ${offset} of ${this.#partition} is in message format v${version}, from before Kafka 0.11, which epochflow does not read`,
      {
        wayOut: "Start behind it (`startFrom`), or copy the topic with a newer client, which writes format v2.",
        place: { partition: this.#partition, offset },
      },
    );
  }
}

const lastOffset = (batch: Buffer) => readInt64(batch, at.baseOffset) + batch.readInt32BE(at.lastOffsetDelta);

/** Not a control batch, nor of an aborted transaction. */
function isWanted(batch: Buffer, filter: AbortedFilter): boolean {
  const attributes = batch.readInt16BE(at.attributes);
  const isControl = (attributes & attribute.control) !== 0;
  if (filter.isEmpty || !(attributes & attribute.transactional)) return !isControl;
  const producerId = batch.readBigInt64BE(at.producerId);
  if (!isControl) return !filter.isAborted(producerId, lastOffset(batch));
  filter.endsTransaction(producerId, lastOffset(batch));
  return false;
}

const nothing = Buffer.alloc(0);

/** All spans in one buffer: the one that they share, or a copy. */
function together(spans: readonly Span[]): { bytes: Buffer; moved: readonly Span[] } {
  const bytes = spans[0]?.bytes ?? nothing;
  if (spans.every((span) => span.bytes === bytes)) return { bytes, moved: spans };
  let size = 0;
  const moved = spans.map((span) => {
    const start = size;
    size += span.end - span.start;
    return { ...span, start, end: size };
  });
  return {
    bytes: Buffer.concat(
      spans.map(({ bytes, start, end }) => bytes.subarray(start, end)),
      size,
    ),
    moved,
  };
}

/** The offset behind the last whole batch, or behind the beginning of one that `decode` will refuse; undefined if there is none. */
export function offsetAfter(records: Buffer): number | undefined {
  let offset: number | undefined;
  for (let start = 0; records.length - start > at.magic; ) {
    const length = records.readInt32BE(start + at.length);
    if (records[start + at.magic] !== magic || length < at.records - prefixBytes) return readInt64(records, start) + 1;
    const end = start + prefixBytes + length;
    if (end > records.length) break;
    offset = lastOffset(records.subarray(start, end)) + 1;
    start = end;
  }
  return offset;
}

/** A batch that says no more than that there is nothing below `next`. */
export function noRecords(next: number): RecordBatch {
  const none = new Int32Array();
  return { bytes: nothing, count: 0, valueStart: none, valueEnd: none, offsets: new Float64Array(), next };
}
