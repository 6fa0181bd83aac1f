import { createHash } from "node:crypto";
import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { KnownPartition } from "../../ports/source.ts";
import type { Compression } from "../compression/decompress.ts";

/** At most so many bytes of a file's beginning tell it from others. */
export const fingerprintBytes = 1024;

/** How a file's bytes are stored: compressed to so many, the last of which have this fingerprint. */
export type Packed = { readonly format: Compression; readonly bytes: number; readonly tail: string };

/**
 * What is remembered of a file (protocol §7): a fingerprint of its first `bytes` bytes. Where fingerprints are equal, `inode` and `file` (path below the
 * input folder) tell files apart. `seen` is how long it was when it was last looked at: read so far, it was read to its end. `tail` is a fingerprint of the last
 * bytes before `seen`: a file that begins the same and has other bytes there is another. `seenInLine`: its last line had no end then. `ended` is where it last
 * ended so, and was read to that end; 0 if it never was. All these are of the decompressed bytes.
 */
export type FileIdentity = {
  readonly file: string;
  readonly inode: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly seen: number;
  readonly seenInLine: boolean;
  readonly ended: number;
  /** Absent in what earlier versions wrote. */
  readonly tail?: string;
  readonly packed?: Packed;
  /** Its turn to be decompressed has not come: `seen` is not known, and nothing of it was read. */
  readonly unmeasured?: true;
  /** Since when it is not there, after it was read to its end; epoch milliseconds. */
  readonly gone?: number;
};

/** A partition of the ledger, whose file is to be found. */
export interface WantedFile {
  readonly id: string;
  readonly identity: FileIdentity;
  readonly position: number;
}

export function fingerprint(head: Buffer): string {
  return createHash("sha256").update(head).digest("hex");
}

/** Whether two fingerprints are of the same bytes. One may be short, as they are kept of files that were read to their end. */
export function agree(one: string, other: string): boolean {
  return one !== "" && other !== "" && (one.startsWith(other) || other.startsWith(one));
}

/** Whether a position may lie within a line: the file ended there once, when the line was not whole. */
export function mayBeInLine({ identity, position }: WantedFile): boolean {
  return position === identity.ended || (position === identity.seen && identity.seenInLine);
}

/** It was read to its end, as far as is known. */
export function isDone({ identity, position }: WantedFile): boolean {
  return position >= identity.seen && identity.unmeasured === undefined;
}

/** @throws LossError `input-identity-invalid` for an identity that this source has not made */
export function wantedFile({ id, identity, position }: KnownPartition): WantedFile {
  if (isFileIdentity(identity)) return { id, identity, position };
  throw new LossError("input-identity-invalid", `the ledger holds no identity of a file for partition ${id}`, {
    wayOut: "The source of the pipeline was of another kind: start anew with `epochflow reset`.",
    place: { partition: id },
  });
}

function isFileIdentity(value: Json): value is FileIdentity {
  if (!isObject(value)) return false;
  const { file, inode, bytes, sha256, seen, seenInLine, ended, tail, packed } = value;
  const texts = typeof file === "string" && typeof inode === "string" && typeof sha256 === "string";
  const numbers = [bytes, seen, ended].every(Number.isSafeInteger);
  const isTailed = tail === undefined || typeof tail === "string";
  const isPacked = packed === undefined || (isObject(packed) && Number.isSafeInteger(packed.bytes));
  return texts && numbers && isTailed && isPacked && typeof seenInLine === "boolean" && isBelow(file as string);
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The ledger's word is not trusted to stay in the input's folder. */
function isBelow(file: string): boolean {
  return file.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
