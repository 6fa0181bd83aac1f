import { LossError } from "../../errors.ts";
import { checkPrepared, type EpochContext, type PreparedFile } from "../output/prepared-file.ts";
import type { UploadedPart } from "./multipart.ts";

/** A pre-committed file: an upload, all parts of which are there. */
export type PreparedUpload = PreparedFile & { readonly upload: string; readonly parts: readonly UploadedPart[] };

/** The ledger's word is not trusted to name this sink's files. @throws LossError `handle-invalid` */
export function checkPreparedUpload(context: EpochContext, prepared: PreparedUpload): PreparedUpload {
  return checkUpload(checkPrepared(context, prepared));
}

/** @throws LossError `handle-invalid` */
export function checkUpload(prepared: PreparedUpload): PreparedUpload {
  const { upload, parts } = prepared ?? {};
  if (typeof upload === "string" && Array.isArray(parts) && parts.every(isPart)) return prepared;
  throw new LossError("handle-invalid", "the ledger holds a handle of a files sink that the sink did not make", {
    wayOut: "The ledger is damaged: restore it from a backup, or start anew with `epochflow reset`.",
  });
}

function isPart(part: UploadedPart): boolean {
  return typeof part?.etag === "string" && (part.crc32 === null || typeof part.crc32 === "string");
}
