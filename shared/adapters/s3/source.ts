import type { S3Client } from "@aws-sdk/client-s3";
import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type {
  CutLimit,
  KnownPartition,
  PartitionStatus,
  RecordBatch,
  Source,
  SourceRange,
} from "../../ports/source.ts";
import { replaced, vanished } from "../lines/input-errors.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutLines, LineCounter, splitLines } from "../lines/lines.ts";
import { partitionId } from "../lines/partition-id.ts";
import { Bucket, type FoundObject } from "./bucket.ts";
import { InputObject, identityOf } from "./input-object.ts";
import { ReadAhead } from "./read-ahead.ts";

const mebibyte = 1024 * 1024;
/** A line becomes one string at most, and V8's strings end at about 512 MiB. */
const largestLineBytes = 256 * mebibyte;

export interface S3SourceOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What the keys of the input begin with. Below it, names that begin with `.` or `_` are left out, and so are empty objects. */
  readonly prefix: string;
  /** Longest line, in bytes without its end; longer ones follow `onError`. 16 MiB by default. */
  readonly maxLineBytes?: number;
}

/**
 * Lines of objects in a bucket (protocol §7, Files). Each object is a partition, known by key and version, and whole from the beginning: a last line without line
 * end is a record. The offset is the byte position of a line's start. An object that is replaced after it was read to its end is a new partition.
 *
 * @throws UsageError for a wrong option
 */
export function createS3Source(options: S3SourceOptions): Source {
  return new S3Source(options);
}

class S3Source implements Source {
  readonly offsets = "bytes";
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #maxLineBytes: number;

  constructor(options: S3SourceOptions) {
    const { client, bucket, prefix, maxLineBytes } = checkS3Source(options);
    this.#bucket = new Bucket(client, bucket);
    this.#prefix = prefix;
    this.#maxLineBytes = maxLineBytes;
  }

  async discover(known: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const found = new Map<string, FoundObject>();
    for await (const object of this.#bucket.list(this.#prefix))
      if (object.bytes > 0 && this.#isVisible(object.key)) found.set(object.key, object);
    const partitions = known.map((one) => this.#known(one, found));
    const taken = new Set(known.map(({ id }) => id));
    for (const object of found.values()) {
      const id = partitionId(this.#nameOf(object.key), taken);
      taken.add(id);
      partitions.push(this.#new(id, object));
    }
    return partitions;
  }

  async cut(range: SourceRange, limit: CutLimit) {
    const object = this.#open(range);
    return await cutLines(limit.records === undefined ? object : new ReadAhead(object, range), range, limit);
  }

  async split(range: SourceRange, pieceBytes: number): Promise<number[]> {
    if (range.to - range.from <= pieceBytes) return [];
    return await splitLines(this.#open(range), range, pieceBytes);
  }

  async *read(range: SourceRange, signal?: AbortSignal): AsyncGenerator<RecordBatch> {
    if (range.from >= range.to) return;
    const input = new ReadAhead(this.#open(range), range);
    if (range.from === 0) await this.#checkPlain(input, range);
    yield* new LineReader(input, range, this.#maxLineBytes).batches(signal);
  }

  async place(range: SourceRange, offset: number) {
    const object = this.#open(range);
    const line = await new LineCounter(new ReadAhead(object, { from: 0, to: offset })).lineAt(offset);
    return { partition: range.id, offset, file: object.url, line };
  }

  async close(): Promise<void> {}

  /** A partition of the ledger, whose object is taken out of those found. @throws LossError if there is more to read of it, and it is not there (I8) */
  #known({ id, identity: json, position }: KnownPartition, found: Map<string, FoundObject>): PartitionStatus {
    const identity = identityOf({ id, identity: json });
    const object = found.get(identity.key);
    const isSame = object?.etag === identity.etag;
    if (isSame) found.delete(identity.key);
    const end = isSame ? identity.bytes : position;
    if (isSame || position >= identity.bytes) return { id, identity, start: 0, end, high: end };
    const url = this.#bucket.urlOf(identity.key);
    throw object === undefined ? vanished(url, position) : replaced(url, position);
  }

  #new(id: string, { key, etag, bytes }: FoundObject): PartitionStatus {
    if (key.endsWith(".gz")) throw compressed(this.#bucket.urlOf(key));
    return { id, identity: { key, etag, bytes }, start: 0, end: bytes, high: bytes };
  }

  #open(range: SourceRange): InputObject {
    return new InputObject(this.#bucket, identityOf(range));
  }

  #nameOf(key: string): string {
    return key.slice(this.#prefix.length).replace(/^\/+/, "") || key;
  }

  #isVisible(key: string): boolean {
    return !this.#nameOf(key)
      .split("/")
      .some((part) => part.startsWith(".") || part.startsWith("_"));
  }

  /** Compressed bytes taken for lines would give garbage without an error. */
  async #checkPlain(input: ReadAhead, range: SourceRange): Promise<void> {
    const head = Buffer.alloc(Math.min(2, range.to));
    await input.readAll(head, head.length, 0);
    if (head[0] === 0x1f && head[1] === 0x8b) throw compressed(this.#open(range).url);
  }
}

function checkS3Source(options: S3SourceOptions): Required<S3SourceOptions> {
  checkOptions("files.source()", options, ["client", "bucket", "prefix", "maxLineBytes"]);
  const { bucket, prefix, maxLineBytes = 16 * mebibyte } = options;
  if (typeof bucket !== "string" || bucket === "" || typeof prefix !== "string") {
    throw new UsageError("invalid-options", "files.source() needs a bucket and a prefix", {
      wayOut: "Give the bucket's name, and what the keys of the input begin with.",
    });
  }
  if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1 || maxLineBytes > largestLineBytes) {
    throw new UsageError("invalid-options", `maxLineBytes of files.source() cannot be ${maxLineBytes}`, {
      wayOut: `Give a whole number of bytes from 1 to ${largestLineBytes}.`,
    });
  }
  return { ...options, maxLineBytes };
}

function compressed(url: string): UsageError {
  return new UsageError("input-compressed", `the input ${url} is compressed by gzip`, {
    wayOut: "Decompress it, or move it to where it is not read.",
    place: { file: url },
  });
}
