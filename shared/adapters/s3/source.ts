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
import { CompressedInput } from "../compression/compressed-input.ts";
import { CursorPool } from "../compression/cursor-pool.ts";
import { type CompressionOption, compressionOptions } from "../compression/decompress.ts";
import { FileNames, type NameOptions } from "../lines/file-names.ts";
import { replaced, vanished } from "../lines/input-errors.ts";
import { LineReader } from "../lines/line-reader.ts";
import { cutLines, LineCounter, type ReadableInput, type Span, splitLines } from "../lines/lines.ts";
import { partitionId } from "../lines/partition-id.ts";
import { Bucket, type FoundObject } from "./bucket.ts";
import { Finished, finishedId } from "./finished.ts";
import { InputObject, identityOf, type ObjectIdentity, sizeOf } from "./input-object.ts";
import { NewObjects } from "./new-objects.ts";
import { ReadAhead } from "./read-ahead.ts";

const mebibyte = 1024 * 1024;
/** A line becomes one string at most, and V8's strings end at about 512 MiB. */
const largestLineBytes = 256 * mebibyte;

export interface S3SourceOptions extends NameOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What the keys of the input begin with. Below it, names that begin with `.` or `_` are left out, and so are empty objects. */
  readonly prefix: string;
  /** Longest line, in bytes without its end; longer ones follow `onError`. 16 MiB by default. */
  readonly maxLineBytes?: number;
  /** Which objects are decompressed: those that begin as one of the formats does (`auto`, the default), none, or all, by the one format that they must have. */
  readonly compression?: CompressionOption;
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
  readonly #prefix: string;
  readonly #names: FileNames;
  readonly #maxLineBytes: number;
  readonly #newObjects: NewObjects;
  readonly #pool = new CursorPool();
  readonly #now: () => number;

  constructor(options: S3SourceOptions) {
    const { client, bucket, prefix, maxLineBytes, compression, now = Date.now } = checkS3Source(options);
    this.#bucket = new Bucket(client, bucket);
    this.#prefix = prefix;
    this.#names = new FileNames(options);
    this.#maxLineBytes = maxLineBytes;
    this.#newObjects = new NewObjects(this.#bucket, compression);
    this.#now = now;
  }

  async discover(all: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const known = all.filter(({ id }) => id !== finishedId);
    const finished = new Finished(all.find(({ id }) => id === finishedId)?.identity);
    const found = new Map<string, FoundObject>();
    for await (const object of this.#bucket.list(this.#prefix))
      if (object.bytes > 0 && this.#names.isInput(this.#nameOf(object.key))) found.set(object.key, object);
    const partitions = known.map((one) => this.#known(one, found));
    const old = [...found.values()].filter((object) => finished.has(object));
    for (const { key } of old) found.delete(key);
    const done = partitions.filter(({ isOver }) => isOver).map(identityOf);
    const record = finished.status(old, done, this.#now());
    return [...(await this.#lookAt(partitions, known, [...found.values()])), ...(record ? [record] : [])];
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

  /** A partition of the ledger, whose object is taken out of those found. @throws LossError if there is more to read of it, and it is not there (I8) */
  #known({ id, identity: json, position }: KnownPartition, found: Map<string, FoundObject>): PartitionStatus {
    const identity = identityOf({ id, identity: json });
    const object = found.get(identity.key);
    const isSame = object?.etag === identity.etag;
    if (isSame) found.delete(identity.key);
    const size = sizeOf(identity);
    const isDone = identity.unread === undefined && position >= size;
    if (isDone) return { id, identity, start: 0, end: position, high: position, isOver: true };
    if (isSame) return { id, identity, start: 0, end: identity.unread ? position : size, high: size };
    const url = this.#bucket.urlOf(identity.key);
    throw object === undefined ? vanished(url, position) : replaced(url, position);
  }

  /** New objects, and those of the known ones whose turn has not come before. */
  async #lookAt(partitions: PartitionStatus[], known: readonly KnownPartition[], objects: readonly FoundObject[]) {
    const taken = new Set(known.map(({ id }) => id));
    const waiting = partitions.filter((one) => identityOf(one).unread);
    const fresh = objects.map((object) => {
      const id = partitionId(this.#nameOf(object.key), taken);
      taken.add(id);
      return { id, identity: object as ObjectIdentity };
    });
    const all = [...waiting.map((one) => ({ id: one.id, identity: identityOf(one) })), ...fresh];
    const looked = await this.#newObjects.look(
      all.map(({ identity }) => identity),
      known.map((one, index) => (identityOf(one).packed ? partitions[index]!.end - one.position : 0)),
    );
    const statuses = all.flatMap(({ id }, index) => (looked[index] ? [newStatus(id, looked[index])] : []));
    const renewed = new Set(statuses.map(({ id }) => id));
    return [...partitions.filter(({ id }) => !renewed.has(id)), ...statuses];
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

  #nameOf(key: string): string {
    return key.slice(this.#prefix.length).replace(/^\/+/, "") || key;
  }
}

async function close(input: ReadableInput): Promise<void> {
  if (input instanceof CompressedInput) await input.close();
}

function newStatus(id: string, identity: ObjectIdentity): PartitionStatus {
  const size = sizeOf(identity);
  return { id, identity, start: 0, end: identity.unread ? 0 : size, high: size };
}

function checkS3Source(options: S3SourceOptions) {
  const known = ["client", "bucket", "prefix", "maxLineBytes", "compression", "include", "exclude", "now"];
  checkOptions("files.source()", options, known);
  const { bucket, prefix, maxLineBytes = 16 * mebibyte, compression = "auto" } = options;
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
  if (!compressionOptions.includes(compression)) {
    throw new UsageError("invalid-options", `compression of files.source() cannot be ${String(compression)}`, {
      wayOut: `It is one of ${compressionOptions.join(", ")}.`,
    });
  }
  return { ...options, maxLineBytes, compression };
}
