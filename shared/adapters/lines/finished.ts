import type { Json } from "../../json.ts";
import type { KnownPartition, PartitionStatus } from "../../ports/source.ts";

/** No file's partition can have it: in those `~` only comes before a number or a hash. */
export const finishedId = "~finished";

/** So long a file that was read to its end is remembered after it has gone: it may come back, from a backup, with its disk, or since the path was another for a while. */
export const rememberedMs = 24 * 60 * 60_000;

/** What the ledger keeps of files that were read to their end, in few bytes each; in its rows it takes the place of their partitions. */
export function finishedRecord(identity: Json): PartitionStatus {
  return { id: finishedId, identity, start: 0, end: 0, high: 0, isRecord: true };
}

/** The partitions that the ledger knows, and the record of finished files; undefined if there is none. */
export function splitFinished(all: readonly KnownPartition[]): { known: KnownPartition[]; finished: Json | undefined } {
  return {
    known: all.filter(({ id }) => id !== finishedId),
    finished: all.find(({ id }) => id === finishedId)?.identity,
  };
}
