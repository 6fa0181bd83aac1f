import { randomUUID } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import { checkObjectKey, checkObjectPrefix, isObjectKeyPart, objectExists } from "../../ports/object-key.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { backOff } from "../aws/back-off.ts";
import { statusOf } from "../aws/errors.ts";
import { Bucket, type Metadata } from "./bucket.ts";
import { abortUpload, completeUpload, isNoSuchUpload, partBytes, startUpload, uploadPart } from "./multipart.ts";

/** Parts that are on their way at once. */
const parallel = 4;
const patience = 5;

export interface S3ObjectStoreOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What the keys in the bucket begin with, before those of the store: empty, or ending in `/`. */
  readonly prefix?: string;
}

/**
 * Objects in a bucket. `If-None-Match` keeps them from being overwritten; one that is longer than a part is a multipart upload. All objects are durable.
 * An upload that a crash leaves is nobody's object; a rule of the bucket may end such uploads after a day.
 *
 * Errors are InfrastructureErrors as `awsError` has them, and LossError `object-exists`, `object-key`.
 */
export class S3ObjectStore implements ObjectStore {
  readonly #bucket: Bucket;
  readonly #prefix: string;

  constructor({ client, bucket, prefix = "" }: S3ObjectStoreOptions) {
    this.#bucket = new Bucket(client, bucket);
    this.#prefix = prefix;
  }

  async put(key: string, chunks: readonly Uint8Array[]): Promise<void> {
    checkObjectKey(key);
    const own = { "epochflow-put": randomUUID() };
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    const place = this.#prefix + key;
    const outcome =
      bytes > partBytes
        ? await this.#upload(place, chunks, own)
        : await this.#bucket.create(place, Buffer.concat(chunks), own);
    if (outcome === "exists") throw objectExists(key, this.#bucket.urlOf(this.#prefix));
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | undefined> {
    checkObjectKey(key);
    const bytes = await this.#bucket.get(this.#prefix + key, range && { range });
    return typeof bytes === "string" ? undefined : bytes;
  }

  async *list(prefix: string): AsyncIterable<string> {
    checkObjectPrefix(prefix);
    for await (const { key } of this.#bucket.list(this.#prefix + prefix)) {
      const own = key.slice(this.#prefix.length);
      if (own.split("/").every(isObjectKeyPart)) yield own;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) checkObjectKey(key);
    await this.#bucket.delete([...new Set(keys)].map((key) => this.#prefix + key));
  }

  /** All parts once more if S3 asks for that, after a conflict with another writer of the key. */
  async #upload(key: string, chunks: readonly Uint8Array[], own: Metadata): Promise<"created" | "exists"> {
    for (let tries = 1; ; tries++) {
      const upload = await startUpload(this.#bucket, key, own);
      try {
        const outcome = await this.#complete(key, upload, chunks, own);
        if (outcome !== "exists") return outcome;
        await abortUpload(this.#bucket, key, upload);
        return outcome;
      } catch (error) {
        await abortUpload(this.#bucket, key, upload).catch(() => {});
        if (statusOf(error) !== 409 || tries === patience) throw this.#bucket.error(error, "write", key);
        await backOff(tries);
      }
    }
  }

  async #complete(key: string, upload: string, chunks: readonly Uint8Array[], own: Metadata) {
    const bucket = this.#bucket;
    const parts: Awaited<ReturnType<typeof uploadPart>>[] = [];
    let number = 0;
    const work = partsOf(chunks, partBytes);
    const worker = async () => {
      for (const body of work) {
        const mine = number++;
        parts[mine] = await uploadPart(bucket, key, upload, mine + 1, body);
      }
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    try {
      await completeUpload(bucket, key, upload, parts, { exclusive: true });
      return "created";
    } catch (error) {
      if (statusOf(error) !== 412 && !isNoSuchUpload(error)) throw error;
      const found = (await bucket.head(key))?.metadata["epochflow-put"];
      if (found === own["epochflow-put"]) return "created";
      if (found === undefined && isNoSuchUpload(error)) throw error;
      return "exists";
    }
  }
}

/** Bytes in pieces of a size, the last one smaller; each is copied only when it is asked for. */
export function* partsOf(chunks: readonly Uint8Array[], size: number): Generator<Buffer> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + size - bytes);
      gathered.push(piece);
      bytes += piece.length;
      at += piece.length;
      if (bytes < size) continue;
      yield Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}
