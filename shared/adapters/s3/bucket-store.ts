import { createHash, randomUUID } from "node:crypto";
import { UsageError } from "../../errors.ts";
import { type ManifestFile, manifestFolder } from "../output/manifest.ts";
import { lost } from "../output/reading.ts";
import type { ByteRange, WritableStore } from "../output/store.ts";
import { abortUpload, completeUpload, partBytes, startUpload, type UploadedPart, uploadPart } from "./multipart.ts";
import type { OutputPlace } from "./output-place.ts";

/** The output of a files sink in a bucket. */
export class BucketStore implements WritableStore {
  readonly #place: OutputPlace;

  constructor(place: OutputPlace) {
    this.#place = place;
  }

  urlOf(path: string): string {
    return this.#place.bucket.urlOf(this.#place.keyOf(path));
  }

  async manifests(): Promise<string[]> {
    const { bucket, prefix, ownerMark, url } = this.#place;
    const paths: string[] = [];
    for await (const { key } of bucket.list(prefix + manifestFolder)) paths.push(key.slice(prefix.length));
    if (paths.length === 0 && !(await bucket.head(ownerMark))) throw notAnOutput(url);
    return paths;
  }

  async modifiedAt(path: string): Promise<number | undefined> {
    return (await this.#place.bucket.head(this.#place.keyOf(path)))?.modifiedAt;
  }

  async read(path: string, range?: ByteRange): Promise<AsyncIterable<Buffer> | undefined> {
    const key = this.#place.keyOf(path);
    const found = await this.#place.bucket.head(key);
    return found && this.#blocks(key, range ?? { start: 0, end: found.bytes });
  }

  /** An object that is too short is found at once, other bytes at their end: nobody wants to fetch them twice. */
  async readRows({
    file,
    bytes,
    offset = 0,
    digest,
  }: ManifestFile): Promise<AsyncIterable<Buffer> | "missing" | "damaged"> {
    const key = this.#place.keyOf(file);
    const found = await this.#place.bucket.head(key);
    if (found === undefined) return "missing";
    if (found.bytes < offset + bytes) return "damaged";
    return this.#checked(this.#blocks(key, { start: offset, end: offset + bytes }), digest, file);
  }

  async create(path: string, chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<"created" | "exists"> {
    const key = this.#place.keyOf(path);
    const own = { "epochflow-put": randomUUID() };
    const upload = new ExclusiveUpload(this.#place, key, own);
    try {
      let gathered: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        gathered.push(chunk);
        bytes += chunk.length;
        if (bytes < partBytes) continue;
        await upload.add(Buffer.concat(gathered));
        gathered = [];
        bytes = 0;
      }
      return await upload.complete(Buffer.concat(gathered));
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }

  async remove(paths: readonly string[]): Promise<void> {
    await this.#place.bucket.delete(paths.map((path) => this.#place.keyOf(path)));
  }

  async *#blocks(key: string, { start, end }: ByteRange): AsyncGenerator<Buffer> {
    for (let at = start; at < end; at += partBytes) {
      const block = await this.#place.bucket.get(key, { range: { start: at, end: Math.min(end, at + partBytes) } });
      if (typeof block === "string") throw lost("damaged", undefined, this.#place.bucket.urlOf(key));
      yield Buffer.from(block.buffer, block.byteOffset, block.byteLength);
    }
  }

  async *#checked(blocks: AsyncIterable<Buffer>, digest: string, file: string): AsyncGenerator<Buffer> {
    const hash = createHash("sha256");
    for await (const block of blocks) {
      hash.update(block);
      yield block;
    }
    if (hash.digest("hex") !== digest) throw lost("damaged", undefined, this.urlOf(file));
  }
}

/** An object that is created if there is none: in one request if it is small, or else as an upload. */
class ExclusiveUpload {
  readonly #place: OutputPlace;
  readonly #key: string;
  readonly #own: Readonly<Record<string, string>>;
  readonly #parts: UploadedPart[] = [];
  #upload: string | undefined;

  constructor(place: OutputPlace, key: string, own: Readonly<Record<string, string>>) {
    this.#place = place;
    this.#key = key;
    this.#own = own;
  }

  async add(part: Buffer): Promise<void> {
    const { bucket } = this.#place;
    this.#upload ??= await startUpload(bucket, this.#key, this.#own);
    this.#parts.push(await uploadPart(bucket, this.#key, this.#upload, this.#parts.length + 1, part));
  }

  async complete(rest: Buffer): Promise<"created" | "exists"> {
    const { bucket } = this.#place;
    if (this.#upload === undefined) return await bucket.create(this.#key, rest, this.#own);
    if (rest.length > 0) await this.add(rest);
    const upload = this.#upload;
    const outcome = await bucket.exclusively(this.#key, this.#own, () =>
      completeUpload(bucket, this.#key, upload, this.#parts, { exclusive: true }),
    );
    if (outcome === "exists") await this.abort();
    return outcome;
  }

  async abort(): Promise<void> {
    if (this.#upload !== undefined) await abortUpload(this.#place.bucket, this.#key, this.#upload).catch(() => {});
  }
}

function notAnOutput(url: string): UsageError {
  return new UsageError("not-an-output", `${url} is not the output of a files sink`, {
    wayOut: "Give the bucket and prefix that the pipeline's files.sink() writes to.",
    place: { file: url },
  });
}
