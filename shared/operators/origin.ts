import { isUtf8 } from "node:buffer";
import type { DeadLetterBytes, DeadLetterRecord, RecordMetadata, SourceDescription } from "../pipeline/topology.ts";
import type { RecordBatch } from "../ports/source.ts";
import type { Described, Failures } from "./failures.ts";
import type { Results } from "./results.ts";
import { settled } from "./user-function.ts";

/**
 * Where values come from: rows of a source's batch, or rows that an aggregate made. Operators carry row numbers beside values, and ask here only
 * for what a failure or a function with metadata needs.
 */
export interface Origin {
  readonly partition: string;
  offset(row: number): number;
  /** Event time, epoch milliseconds. */
  timestamp(row: number): number;
  /** Made once per row, and so the same object for all functions. */
  metadata(row: number): RecordMetadata;
  /** What a dead-letter row says of the row. */
  describe(row: number): Described;
  /** A value that came from this row failed in an operator. */
  fail(failures: Failures, operator: string, row: number, error: unknown): void;
}

/** Rows `[from, from + count)` of a source's batch, numbered from 0. */
export class RecordOrigin implements Origin {
  readonly partition: string;
  readonly #batch: RecordBatch;
  readonly #from: number;
  readonly #timestamps: Float64Array;
  readonly #source: SourceDescription;
  readonly #metadata: RecordMetadata[] = [];

  constructor(
    partition: string,
    batch: RecordBatch,
    from: number,
    timestamps: Float64Array,
    source: SourceDescription,
  ) {
    this.#source = source;
    this.partition = partition;
    this.#batch = batch;
    this.#from = from;
    this.#timestamps = timestamps;
  }

  offset(row: number): number {
    return this.#batch.offsets[this.#from + row]!;
  }

  timestamp(row: number): number {
    return this.#timestamps[row]!;
  }

  metadata(row: number): RecordMetadata {
    this.#metadata[row] ??= {
      key: this.#key(row),
      headers: this.#headers(row),
      timestamp: this.timestamp(row),
      partition: this.partition,
      offset: this.offset(row),
    };
    return this.#metadata[row];
  }

  describe(row: number): Described {
    const { valueStart, valueEnd } = this.#batch;
    const value = this.#bytes(valueStart, valueEnd, row);
    return { partition: this.partition, offset: this.offset(row), value, record: this.#record(row) };
  }

  fail(failures: Failures, operator: string, row: number, error: unknown): void {
    failures.record(operator, this, row, error);
  }

  /** What the source itself knows of the record, so that it can be written once more as it was. */
  #record(row: number): DeadLetterRecord {
    const { keyStart, keyEnd, timestamps, headers, errors } = this.#batch;
    const at = this.#from + row;
    const named = headers?.(at).map(([name, value]) => [name, value && readable(value)] as const);
    return {
      source: this.#source.kind,
      ...(keyStart && keyEnd && { key: this.#bytes(keyStart, keyEnd, row) }),
      ...(named && { headers: named }),
      ...(timestamps && { timestamp: timestamps[at]! }),
      ...(errors?.has(at) && { truncated: true }),
    };
  }

  #bytes(starts: Int32Array, ends: Int32Array, row: number): DeadLetterBytes {
    const start = starts[this.#from + row]!;
    return start < 0 ? null : readable(this.#batch.bytes.subarray(start, ends[this.#from + row]));
  }

  /** What a decoder of the user's makes of it is the user's to type. */
  #key(row: number): string | undefined {
    const { bytes, keyStart, keyEnd } = this.#batch;
    const start = keyStart?.[this.#from + row] ?? -1;
    const decoder = this.#source.key;
    if (start < 0) return decoder?.decodeNull?.() as undefined;
    const end = keyEnd![this.#from + row]!;
    return decoder === undefined
      ? bytes.toString("utf8", start, end)
      : (settled(decoder.decode(bytes, start, end)) as string);
  }

  #headers(row: number): Record<string, string> {
    const headers = this.#batch.headers?.(this.#from + row) ?? [];
    // Of those of one name the last counts.
    return Object.fromEntries(headers.map(([name, value]) => [name, Buffer.from(value ?? "").toString("utf8")]));
  }
}

/** Text where bytes are UTF-8; otherwise base64, so that nothing is lost. */
function readable(given: Uint8Array): DeadLetterBytes {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  return isUtf8(bytes) ? bytes.toString("utf8") : { base64: bytes.toString("base64") };
}

/** Rows that an aggregate made. */
export interface DerivedRow {
  readonly key: unknown;
  /** Only where there are windows. */
  readonly windowStart?: number;
  readonly windowEnd?: number;
}

export class DerivedOrigin implements Origin {
  readonly partition = "";
  readonly #results: Results;

  /** @param results whose batch this is about, for as long as it lasts */
  constructor(results: Results) {
    this.#results = results;
  }

  offset(): number {
    return -1;
  }

  timestamp(row: number): number {
    return this.#results.times[row]!;
  }

  metadata(row: number): RecordMetadata {
    return { key: undefined, headers: {}, timestamp: this.timestamp(row), partition: this.partition, offset: -1 };
  }

  describe(row: number): Described {
    const value = this.#results.rows()[row]!;
    const { key, windowStart, windowEnd } = value;
    const window = windowStart !== undefined && windowEnd !== undefined && { windowStart, windowEnd };
    return { partition: this.partition, offset: -1, value, key, ...window };
  }

  fail(failures: Failures, operator: string, row: number, error: unknown): void {
    failures.derived(operator, this.#results.groups[row]!, this.describe(row), error);
  }
}
