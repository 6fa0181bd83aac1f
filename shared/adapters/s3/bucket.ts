import { createHash } from "node:crypto";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { InfrastructureError } from "../../errors.ts";
import { backOff } from "../aws/back-off.ts";
import { awsError, nameOf, statusOf } from "../aws/errors.ts";

/** At most so many keys go in one request. */
const batchSize = 1000;
/** Bytes that are read at once. */
const blockBytes = 8 << 20;
/** How often a request is made again that the SDK does not repeat by itself. */
const patience = 8;

/** User metadata, by which an object or upload tells who made it. */
export type Metadata = Readonly<Record<string, string>>;

export interface FoundObject {
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
}

export interface FoundUpload {
  readonly key: string;
  readonly upload: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** A byte range of an object, which has to have this etag still. */
export interface Part {
  readonly range?: { readonly start: number; readonly end: number };
  readonly etag?: string;
}

/** The requests that adapters make of a bucket. */
export class Bucket {
  readonly client: S3Client;
  readonly name: string;

  constructor(client: S3Client, name: string) {
    this.client = client;
    this.name = name;
  }

  /** `s3://bucket/key`, for people. */
  urlOf(key: string): string {
    return `s3://${this.name}/${key}`;
  }

  /** What is known of an object without its bytes; undefined if there is none. `modifiedAt`: epoch milliseconds. */
  async head(key: string): Promise<{ bytes: number; metadata: Metadata; modifiedAt: number } | undefined> {
    try {
      const head = await this.client.send(new HeadObjectCommand({ Bucket: this.name, Key: key }));
      const modifiedAt = head.LastModified?.getTime() ?? 0;
      return { bytes: head.ContentLength ?? 0, metadata: head.Metadata ?? {}, modifiedAt };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw awsError(error, `look at ${this.urlOf(key)}`, "s3:GetObject");
    }
  }

  /** Bytes of an object; "missing", "changed": it has another etag. A range past the end gives what is there. */
  async get(key: string, { range, etag }: Part = {}): Promise<Uint8Array | "missing" | "changed"> {
    if (range && range.end <= range.start) return (await this.head(key)) ? new Uint8Array() : "missing";
    const command = new GetObjectCommand({
      Bucket: this.name,
      Key: key,
      Range: range && `bytes=${range.start}-${range.end - 1}`,
      IfMatch: etag,
    });
    for (let tries = 1; ; tries++) {
      try {
        const { Body } = await this.client.send(command);
        return await Body!.transformToByteArray();
      } catch (error) {
        const status = statusOf(error);
        if (status === 404 && nameOf(error) !== "NoSuchBucket") return "missing";
        if (status === 412) return "changed";
        if (status === 416) return new Uint8Array();
        // The SDK repeats a request whose answer does not come, but not one whose answer ends too soon.
        if (status !== undefined || tries === patience) throw this.error(error, "read", key);
        await backOff(tries);
      }
    }
  }

  /** The SHA-256 of a range of an object, in hexadecimal; undefined if it has not so many bytes. */
  async digestOf(key: string, { start: first, end }: Required<Part>["range"]): Promise<string | undefined> {
    const hash = createHash("sha256");
    for (let start = first; start < end; start += blockBytes) {
      const range = { start, end: Math.min(end, start + blockBytes) };
      const block = await this.get(key, { range });
      if (typeof block === "string" || block.length < range.end - start) return undefined;
      hash.update(block);
    }
    return hash.digest("hex");
  }

  /** Creates an object in one request, unless the key is taken by another. `metadata` is unique to the caller. */
  async create(key: string, body: Uint8Array, metadata: Metadata): Promise<"created" | "exists"> {
    const command = new PutObjectCommand({
      Bucket: this.name,
      Key: key,
      Body: body,
      Metadata: metadata,
      IfNoneMatch: "*",
    });
    return await this.exclusively(key, metadata, () => this.client.send(command));
  }

  /**
   * Makes a request that creates an object if there is none. A conflict with another such request is tried again; where an object is found, it may be the very
   * one that this caller has made, in a request whose answer was lost.
   */
  async exclusively(key: string, own: Metadata, send: () => Promise<unknown>): Promise<"created" | "exists"> {
    for (let tries = 1; ; tries++) {
      try {
        await send();
        return "created";
      } catch (error) {
        if (statusOf(error) === 412) return (await this.#isOwn(key, own)) ? "created" : "exists";
        if (statusOf(error) !== 409 || tries === patience) throw this.error(error, "write", key);
        await backOff(tries);
      }
    }
  }

  async *list(prefix: string): AsyncGenerator<FoundObject> {
    let token: string | undefined;
    do {
      const command = new ListObjectsV2Command({ Bucket: this.name, Prefix: prefix, ContinuationToken: token });
      const page = await this.named("list", prefix, () => this.client.send(command));
      for (const { Key, ETag, Size } of page.Contents ?? []) yield { key: Key!, etag: ETag ?? "", bytes: Size ?? 0 };
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** Multipart uploads that are neither completed nor aborted. */
  async *uploads(prefix: string): AsyncGenerator<FoundUpload> {
    let key: string | undefined;
    let upload: string | undefined;
    do {
      const place = { Bucket: this.name, Prefix: prefix, KeyMarker: key, UploadIdMarker: upload };
      const command = new ListMultipartUploadsCommand(place);
      const page: ListMultipartUploadsCommandOutput = await this.named("list uploads of", prefix, () =>
        this.client.send(command),
      );
      for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
        yield { key: Key!, upload: UploadId!, startedAt: Initiated?.getTime() ?? 0 };
      key = page.IsTruncated ? page.NextKeyMarker : undefined;
      upload = page.IsTruncated ? page.NextUploadIdMarker : undefined;
    } while (key !== undefined);
  }

  /** Deletes objects; a key that is not there is fine. */
  async delete(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += batchSize) {
      const Objects = keys.slice(at, at + batchSize).map((Key) => ({ Key }));
      const command = new DeleteObjectsCommand({ Bucket: this.name, Delete: { Objects, Quiet: true } });
      const { Errors = [] } = await this.named("delete", keys[at]!, () => this.client.send(command));
      const failed = Errors.find(({ Code }) => Code !== "NoSuchKey");
      if (failed === undefined) continue;
      throw new InfrastructureError(
        "aws-service",
        `Cannot delete ${this.urlOf(failed.Key ?? "")}: ${failed.Message} (${failed.Code})`,
      );
    }
  }

  async named<T>(doing: string, key: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.error(error, doing, key);
    }
  }

  error(error: unknown, doing: string, key: string) {
    return awsError(error, `${doing} ${this.urlOf(key)}`);
  }

  async #isOwn(key: string, own: Metadata): Promise<boolean> {
    const found = await this.head(key);
    return Object.entries(own).every(([name, value]) => found?.metadata[name] === value);
  }
}
