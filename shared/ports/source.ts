import type { ErrorPlace } from "../errors.ts";
import type { Json } from "../json.ts";

export type RecordHeader = readonly [name: string, value: Uint8Array | null];

/**
 * Records as columns over one buffer: no object per record. Row i's value is `bytes[valueStart[i], valueEnd[i])`;
 * a start of -1 is a null. Buffers may be reused by the source after the consumer asks for the next batch.
 */
export interface RecordBatch {
  readonly bytes: Buffer;
  readonly count: number;
  readonly valueStart: Int32Array;
  readonly valueEnd: Int32Array;
  readonly keyStart?: Int32Array;
  readonly keyEnd?: Int32Array;
  /** Offset of each record; ascending, may have gaps. */
  readonly offsets: Float64Array;
  /** Event time that the source itself knows, in epoch milliseconds. */
  readonly timestamps?: Float64Array;
  /** Headers of row i, where the source has any: in their order, and names may come twice. */
  headers?(row: number): readonly RecordHeader[];
  /**
   * Rows that the source could not take as they are (a line that is too long), with what is wrong: they follow `onError` like a record that
   * fails to decode. Their value is the beginning of the record only. Absent where there are none.
   */
  readonly errors?: ReadonlyMap<number, string>;
  /** Everything below this offset has been delivered, counting gaps. */
  readonly next: number;
}

/** What the ledger remembers of a partition: enough to know it again (a file's fingerprint, a topic's id). */
export interface KnownPartition {
  readonly id: string;
  readonly identity: Json;
  /** Everything below was read by decided epochs. */
  readonly position: number;
}

/** A partition as the source sees it now. */
export interface PartitionStatus {
  /** Stable for the life of the pipeline; `[A-Za-z0-9._%~/-]+`, at most 512 bytes. Sorted ids give the order of partitions. */
  readonly id: string;
  readonly identity: Json;
  /** Where a partition that the ledger does not know yet starts. */
  readonly start: number;
  /** The start is true at this moment only ("latest"): Plan makes an epoch at once, even of empty ranges, so that the ledger remembers it. */
  readonly momentary?: true;
  /** Readable up to here, exclusive: a file's last complete line, a topic's last stable offset. */
  readonly end: number;
  /** Written up to here: more will become readable without a new event (an open Kafka transaction). At least `end`. */
  readonly high: number;
  /** It was read to its end, and no more will come of it: once it is idle, and its event times do not matter to the watermark, the ledger forgets it. */
  readonly isOver?: true;
  /** No partition, but what the source has to remember besides: its `end` is 0, and it never holds the watermark back. */
  readonly isRecord?: true;
}

/** What keeps records of a partition from being read, for people: an open transaction of somebody. Times are epoch milliseconds, null where they are not known. */
export interface HeldBack {
  readonly id: string;
  /** Readable up to here. */
  readonly offset: number;
  /** Who: "transactional id payments-3 (producer 4012)". */
  readonly by: string;
  readonly since: number | null;
  /** When it ends by itself, if nobody ends it before. */
  readonly until: number | null;
}

/** `[from, to)` of one partition. */
export interface SourceRange {
  readonly id: string;
  readonly identity: Json;
  readonly from: number;
  readonly to: number;
}

/** How much of a range one epoch takes; whichever is reached first. At least one record is taken. */
export interface CutLimit {
  readonly bytes?: number;
  readonly records?: number;
}

/**
 * A replayable source (protocol §7). Reading the same range again gives the same records, or throws `LossError` (I8).
 * Throws `InfrastructureError` for what may work again later. All errors name partition and, where it has one, file and line.
 */
export interface Source {
  /** What an offset counts, for people. */
  readonly offsets: "bytes" | "records";
  /**
   * All partitions: the known ones, and new ones; with identities as they are now (a file has grown, or was renamed), for the ledger to keep.
   * `LossError` if a known one is gone, shrank or was replaced before it was read to its end. One that was read to its end and is gone is still returned, with `end` equal to its position.
   */
  discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]>;
  /** Resolves when there may be more than `discover` found last, or after a while. Without it, whoever waits looks again and again. */
  awaitMore?(signal: AbortSignal): Promise<void>;
  /** What holds partitions back whose `high` was above their `end` when `discover` looked last. */
  heldBack?(): Promise<readonly HeldBack[]>;
  /**
   * Where an epoch that starts at `from` ends (exclusive, on a record's boundary, in `(from, end]`), and how many records and bytes that
   * is where the source has counted them. `records` limits are exact.
   */
  cut(
    range: SourceRange,
    limit: CutLimit,
  ): Promise<{ readonly to: number; readonly records?: number; readonly bytes: number }>;
  /**
   * Inner boundaries on records that cut the range into pieces of about `pieceBytes`; a function of the range alone. Empty for a small range.
   */
  split(range: SourceRange, pieceBytes: number): Promise<number[]>;
  /**
   * The records of the range, in offset order. Ends when everything below `to` is delivered. It may begin to read at once, so that ranges that are opened
   * together come together: whoever does not read to the end aborts the signal.
   */
  read(range: SourceRange, signal?: AbortSignal): AsyncIterable<RecordBatch>;
  /**
   * A hint: the next range of each partition will begin where this one ends, and is to be read here. What lies there may be fetched meanwhile. A range gives the
   * same records with it and without; whoever gives it stays, and closes the source in the end.
   */
  prefetch?(ranges: readonly SourceRange[]): void;
  /** Where a record of the range lies, for the message of an error: may read the input to count its lines. */
  place?(range: SourceRange, offset: number): Promise<ErrorPlace>;
  close(): Promise<void>;
}
