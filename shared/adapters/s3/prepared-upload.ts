import { LossError } from "../../errors.ts";
import type { PreparedFiles, StagedOutput } from "../output/prepared-files.ts";
import type { UploadedPart } from "./multipart.ts";

/** What a pre-committed file is beside its size and names: an upload, all parts of which are there. */
export type Upload = { readonly upload: string; readonly parts: readonly UploadedPart[] };

export type PreparedUploads = PreparedFiles<Upload>;

/** @throws LossError `handle-invalid` */
export function checkUploads(files: readonly StagedOutput<Upload>[]): readonly StagedOutput<Upload>[] {
  if (files.every(isUpload)) return files;
  throw new LossError("handle-invalid", "the ledger holds a handle of a files sink that the sink did not make", {
    wayOut: "The ledger is damaged: restore it from a backup, or start anew with `epochflow reset`.",
  });
}

function isUpload({ upload, parts }: Upload): boolean {
  return typeof upload === "string" && Array.isArray(parts) && parts.every(isPart);
}

function isPart(part: UploadedPart): boolean {
  return typeof part?.etag === "string" && (part.crc32 === null || typeof part.crc32 === "string");
}
