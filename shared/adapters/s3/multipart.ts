import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { nameOf } from "../aws/errors.ts";
import type { Bucket, Metadata } from "./bucket.ts";

/** Bytes of a part; S3 takes from 5 MiB on, but for the last one, and 10,000 parts at most. */
export const partBytes = 8 << 20;

/** A part as its upload has to name it in the end. */
export type UploadedPart = { readonly etag: string; readonly crc32: string | null };

export async function startUpload(bucket: Bucket, key: string, metadata: Metadata): Promise<string> {
  const command = new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: key, Metadata: metadata });
  return (await bucket.named("write", key, () => bucket.client.send(command))).UploadId!;
}

/** @param number from 1; the same part again takes the place of the first */
export async function uploadPart(
  bucket: Bucket,
  key: string,
  upload: string,
  number: number,
  body: Uint8Array,
): Promise<UploadedPart> {
  const place = { Bucket: bucket.name, Key: key, UploadId: upload, PartNumber: number };
  const command = new UploadPartCommand({ ...place, Body: body });
  const { ETag, ChecksumCRC32 } = await bucket.named("write", key, () => bucket.client.send(command));
  return { etag: ETag!, crc32: ChecksumCRC32 ?? null };
}

/**
 * The request that makes an upload an object, whole and at once.
 *
 * @param exclusive fails if the key is taken. After a conflict S3 may want all parts anew, so it is nothing for parts that cannot be written again
 */
export async function completeUpload(
  bucket: Bucket,
  key: string,
  upload: string,
  parts: readonly UploadedPart[],
  { exclusive }: { exclusive: boolean },
): Promise<void> {
  const Parts = parts.map(({ etag, crc32 }, index) => ({
    PartNumber: index + 1,
    ETag: etag,
    ...(crc32 === null ? {} : { ChecksumCRC32: crc32 }),
  }));
  const place = { Bucket: bucket.name, Key: key, UploadId: upload, MultipartUpload: { Parts } };
  await bucket.client.send(
    new CompleteMultipartUploadCommand({ ...place, ...(exclusive ? { IfNoneMatch: "*" } : {}) }),
  );
}

/** Ends an upload and frees its parts; one that is not there any more is fine. */
export async function abortUpload(bucket: Bucket, key: string, upload: string): Promise<void> {
  try {
    const place = { Bucket: bucket.name, Key: key, UploadId: upload };
    await bucket.client.send(new AbortMultipartUploadCommand(place));
  } catch (error) {
    if (!isNoSuchUpload(error)) throw bucket.error(error, "end an upload to", key);
  }
}

export function isNoSuchUpload(error: unknown): boolean {
  return nameOf(error) === "NoSuchUpload";
}
