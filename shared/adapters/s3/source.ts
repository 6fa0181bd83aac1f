import type { S3Client } from "@aws-sdk/client-s3";
import { UsageError } from "../../errors.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import { CompressedInput } from "../compression/compressed-input.ts";
import { CursorPool } from "../compression/cursor-pool.ts";
import { checkLineOptions, type LineOptions } from "../lines/line-options.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutLines, LineCounter, type ReadableInput, type Span, splitLines } from "../lines/lines.ts";
import { Bucket } from "./bucket.ts";
import { Discovery } from "./discovery.ts";
import { InputObject, identityOf } from "./input-object.ts";
import { NewObjects } from "./new-objects.ts";
import { ReadAhead } from "./read-ahead.ts";

export interface S3SourceOptions extends LineOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What the keys of the input begin with. Below it, names that begin with `.` or `_` are left out, and so are empty objects. */
  readonly prefix: string;
  /** Epoch milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

/**
 * Lines of objects in a bucket (protocol §7, Files). Each object is a partition, known by key and version, and whole from the beginning: a last line without line
 * end is a record. The offset is the byte position of a line's start, of the decompressed bytes. An object that is replaced after it was read to its end is a new partition; when it comes, and how
 * its name compares with those of others, means nothing.
 *
 * @throws UsageError for a wrong option
 */
export function createS3Source(options: S3SourceOptions): Source {
  return new S3Source(options);
}

class S3Source implements Source {
  readonly offsets = "bytes";
  readonly #bucket: Bucket;
  readonly #discovery: Discovery;
  readonly #maxLineBytes: number;
  readonly #pool = new CursorPool();

  constructor(options: S3SourceOptions) {
    const { client, bucket, prefix, maxLineBytes, compression, names, now } = checkS3Source(options);
    this.#bucket = new Bucket(client, bucket);
    const newObjects = new NewObjects(this.#bucket, compression);
    this.#discovery = new Discovery({ bucket: this.#bucket, prefix, names, newObjects, now });
    this.#maxLineBytes = maxLineBytes;
  }

  discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    return this.#discovery.look(known);
  }

  async cut(range: SourceRange, limit: CutLimit) {
    // Lines are counted from the beginning; bytes need only the end of a range.
    const open = limit.records === undefined ? this.#open(range) : this.#openSpan(range, range);
    return await this.#using(open, (input) => cutLines(input, range, limit));
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    if (range.to - range.from <= pieceBytes) return [];
    const input = this.#open(range);
    // Each piece of a compressed object would have to be decompressed from its beginning.
    return input.sequential ? [] : await splitLines(input, range, pieceBytes);
  }

  async *read(range: SourceRange, signal?: AbortSignal): AsyncGenerator<RecordBatch> {
    if (range.from >= range.to) return;
    const input = this.#openSpan(range, range);
    try {
      yield* new LineReader(input, range, this.#maxLineBytes).batches(signal);
    } finally {
      await close(input);
    }
  }

  async place(range: SourceRange, offset: number) {
    const open = this.#openSpan(range, { from: 0, to: offset });
    const line = await this.#using(open, (input) => new LineCounter(input).lineAt(offset));
    return { partition: range.id, offset, file: this.#bucket.urlOf(identityOf(range).key), line };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** Any position can be read, at the price of a request. */
  #open(range: SourceRange): ReadableInput {
    const identity = identityOf(range);
    const object = new InputObject(this.#bucket, identity);
    if (identity.packed === undefined) return object;
    const { format } = identity.packed;
    const key = `${identity.key} ${identity.etag}`;
    return new CompressedInput(this.#pool, { key, path: object.url, format, open: async () => object.raw() });
  }

  /** A span is read from its beginning to its end. */
  #openSpan(range: SourceRange, span: Span): ReadableInput {
    const input = this.#open(range);
    return input instanceof InputObject ? new ReadAhead(input, span) : input;
  }

  async #using<T>(input: ReadableInput, work: (input: ReadableInput) => Promise<T>): Promise<T> {
    try {
      return await work(input);
    } finally {
      await close(input);
    }
  }
}

async function close(input: ReadableInput): Promise<void> {
  if (input instanceof CompressedInput) await input.close();
}

function checkS3Source(options: S3SourceOptions) {
  const common = checkLineOptions(options, ["client", "bucket", "prefix", "now"]);
  const { client, bucket, prefix, now = Date.now } = options;
  if (typeof bucket !== "string" || bucket === "" || typeof prefix !== "string") {
    throw new UsageError("invalid-options", "files.source() needs a bucket and a prefix", {
      wayOut: "Give the bucket's name, and what the keys of the input begin with.",
    });
  }
  return { client, bucket, prefix, now, ...common };
}
