import { createHash } from "node:crypto";
import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { KnownPartition } from "../../ports/source.ts";

/** At most so many bytes of a file's beginning tell it from others. */
export const fingerprintBytes = 1024;

/**
 * What is remembered of a file (protocol §7): a fingerprint of its first `bytes` bytes. Where fingerprints are equal, `inode` and `file` (path below the
 * input folder) tell files apart. `seen` is how long it was when it was last looked at: read so far, it was read to its end. `seenInLine`: its last line had
 * no end then. `ended` is where it last ended so, and was read to that end; 0 if it never was.
 */
export type FileIdentity = {
  readonly file: string;
  readonly inode: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly seen: number;
  readonly seenInLine: boolean;
  readonly ended: number;
};

/** A file as it is now. `head`: its first `fingerprintBytes` bytes, or all that there are. */
export interface FoundFile {
  readonly file: string;
  readonly path: string;
  readonly inode: string;
  readonly size: number;
  readonly head: Buffer;
  /** Its last line has no end yet. */
  readonly endsInLine: boolean;
}

/** A partition of the ledger, whose file is to be found. */
export interface WantedFile {
  readonly id: string;
  readonly identity: FileIdentity;
  readonly position: number;
}

/** @param before the ledger's partition, if this file is of one */
export function identify({ file, inode, head, size, endsInLine }: FoundFile, before?: WantedFile): FileIdentity {
  const wasInLine = before !== undefined && isDone(before) && before.identity.seenInLine;
  const ended = wasInLine ? before.position : (before?.identity.ended ?? 0);
  return { file, inode, bytes: head.length, sha256: fingerprint(head), seen: size, seenInLine: endsInLine, ended };
}

/** Whether a position may lie within a line: the file ended there once, when the line was not whole. */
export function mayBeInLine({ identity, position }: WantedFile): boolean {
  return position === identity.ended || (position === identity.seen && identity.seenInLine);
}

export function fingerprint(head: Buffer): string {
  return createHash("sha256").update(head).digest("hex");
}

export function hasFingerprint(head: Buffer, { bytes, sha256 }: FileIdentity): boolean {
  return head.length >= bytes && fingerprint(head.subarray(0, bytes)) === sha256;
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
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { file, inode, bytes, sha256, seen, seenInLine, ended } = value as { [key: string]: Json };
  const texts = typeof file === "string" && typeof inode === "string" && typeof sha256 === "string";
  const numbers = [bytes, seen, ended].every(Number.isSafeInteger);
  return texts && numbers && typeof seenInLine === "boolean" && isBelow(file as string);
}

/** The ledger's word is not trusted to stay in the input's folder. */
function isBelow(file: string): boolean {
  return file.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/**
 * Finds the files of known partitions: same fingerprint, not shorter than what was read. Of equal fingerprints the file is meant that kept inode and
 * name; then inode (a rotation), name (a restore), neither (a copy). Each file is taken once, and by a partition that has more to read first.
 */
export function assign(wanted: readonly WantedFile[], found: readonly FoundFile[]): Map<WantedFile, FoundFile> {
  const assigned = new Map<WantedFile, FoundFile>();
  const free = new Set(found);
  const byInode = Map.groupBy(found, ({ inode }) => inode);
  const byName = Map.groupBy(found, ({ file }) => file);
  const ranks: ((wanted: WantedFile) => Iterable<FoundFile>)[] = [
    ({ identity }) => (byInode.get(identity.inode) ?? []).filter(({ file }) => file === identity.file),
    ({ identity }) => byInode.get(identity.inode) ?? [],
    ({ identity }) => byName.get(identity.file) ?? [],
    (one) => free.values().filter((file) => isCopy(one, file)),
  ];
  const waiting = new Set([...wanted].sort((a, b) => Number(isDone(a)) - Number(isDone(b))));
  for (const candidates of ranks) {
    for (const one of waiting) {
      const file = Iterator.from(candidates(one)).find((each) => free.has(each) && isSame(one, each));
      if (file === undefined) continue;
      assigned.set(one, file);
      free.delete(file);
      waiting.delete(one);
    }
  }
  return assigned;
}

function isSame({ identity, position }: WantedFile, { size, head }: FoundFile): boolean {
  return size >= position && hasFingerprint(head, identity);
}

/** Many files begin with the same few bytes: with another name and inode, a short file is a copy only if it has the same length too. */
function isCopy({ identity }: WantedFile, { size }: FoundFile): boolean {
  return identity.bytes === fingerprintBytes || identity.seen === size;
}

/** It was read to its end, as far as is known. */
export function isDone({ identity, position }: WantedFile): boolean {
  return position >= identity.seen;
}
