import type { FileIdentity, Packed, WantedFile } from "./identity.ts";
import { agree, fingerprint, isDone } from "./identity.ts";

/** A file as it is now. */
export interface FoundFile {
  /** Path below the input folder. */
  readonly file: string;
  readonly path: string;
  readonly inode: string;
  /** Bytes, decompressed. Of one that is not measured yet those that are stored. */
  readonly size: number;
  /** The first bytes, decompressed: `fingerprintBytes` of them, or all that there are. */
  readonly head: Buffer;
  /** Fingerprint of the last bytes. */
  readonly tail: string;
  /** Its last line has no end yet. */
  readonly endsInLine: boolean;
  readonly packed?: Packed;
  /** Compressed, and not decompressed yet for its size. */
  readonly unmeasured?: true;
  /** When its inode changed last; epoch milliseconds. */
  readonly changedAt: number;
}

/** @param before the ledger's partition, if this file is of one */
export function identify(found: FoundFile, before?: WantedFile): FileIdentity {
  const { file, inode, head, size, endsInLine, tail, packed, unmeasured } = found;
  const wasInLine = before !== undefined && isDone(before) && before.identity.seenInLine;
  return {
    file,
    inode,
    bytes: head.length,
    sha256: fingerprintOf(found, head.length),
    seen: size,
    seenInLine: endsInLine,
    ended: wasInLine ? before.position : (before?.identity.ended ?? 0),
    tail,
    ...(packed && { packed }),
    ...(unmeasured && { unmeasured }),
  };
}

const fingerprints = new WeakMap<Buffer, Map<number, string>>();

/** Fingerprint of its first bytes, which many partitions may ask for; empty if it has fewer. */
export function fingerprintOf({ head }: FoundFile, bytes: number): string {
  if (bytes > head.length) return "";
  const known = fingerprints.get(head) ?? new Map<number, string>();
  fingerprints.set(head, known);
  const print = known.get(bytes) ?? fingerprint(head.subarray(0, bytes));
  known.set(bytes, print);
  return print;
}

export function beginsAs(found: FoundFile, { bytes, sha256 }: FileIdentity): boolean {
  return agree(fingerprintOf(found, bytes), sha256);
}

/** The very same stored bytes. */
export function isPackedAs(found: FoundFile, { packed }: Pick<FileIdentity, "packed">): boolean {
  return packed !== undefined && found.packed?.bytes === packed.bytes && found.packed.tail === packed.tail;
}

/** The file that it was, no shorter, but for its last bytes: it may have been edited, or truncated and written anew, and nobody can tell which. */
export function isEdited(found: FoundFile, identity: FileIdentity): boolean {
  const isSameFile = found.inode === identity.inode && !found.packed && beginsAs(found, identity);
  return isSameFile && found.size >= identity.seen;
}
