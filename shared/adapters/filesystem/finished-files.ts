import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Json } from "../../json.ts";
import { type FileIdentity, type WantedFile, wantedFile } from "./identity.ts";

/** As columns, values of a kind stand beside each other, and are deflated to the least. */
const columns = [
  "id",
  "file",
  "inode",
  "bytes",
  "sha256",
  "seen",
  "seenInLine",
  "ended",
  "tail",
  "packed",
  "gone",
] as const;

/** So many characters of a fingerprint are kept, 96 bits each. */
const keptOf = { sha256: 24, tail: 16 };

/**
 * Files that were read to their end, for the ledger: what makes them known again, in some 60 bytes each. Partition, place and size are kept as they are, so that a file that
 * grows goes on as the partition that it was, where it ended (I1). Of fingerprints the first part is kept.
 */
export function packFinished(files: readonly WantedFile[]): Json {
  const rows = files.map(({ id, identity }): Record<string, Json> => {
    const { sha256, tail = "" } = identity;
    return { ...identity, id, sha256: sha256.slice(0, keptOf.sha256), tail: tail.slice(0, keptOf.tail) };
  });
  const text = JSON.stringify(columns.map((column) => rows.map((row) => row[column] ?? null)));
  return { finished: deflateRawSync(text).toString("base64") };
}

/** @throws LossError `input-identity-invalid` for what is not of `packFinished` */
export function unpackFinished(record: Json | undefined): WantedFile[] {
  if (record === undefined) return [];
  const [ids = [], ...values] = columnsOf(record);
  return ids.map((id, row) => {
    const fields = columns.slice(1).flatMap((column, at) => {
      const value = values[at]?.[row] ?? null;
      return value === null ? [] : [[column, value] as const];
    });
    const { seen, ...others } = Object.fromEntries(fields) as FileIdentity;
    return wantedFile({ id: String(id), identity: { ...others, seen }, position: seen });
  });
}

function columnsOf(record: Json): Json[][] {
  try {
    const { finished } = record as { finished: string };
    return JSON.parse(inflateRawSync(Buffer.from(finished, "base64")).toString()) as Json[][];
  } catch {
    return [["finished files"]];
  }
}
