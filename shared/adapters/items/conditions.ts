/** The conditions of the protocol's writes (protocol §5, §6, §8), each a sentence. A verb is these, and what it then writes. */
import type { DecidedEpoch, EpochRow, FencedEpoch, PlannedEpoch, Unit } from "../../epoch/epoch.ts";
import type { Head, Wake } from "../../ports/ledger.ts";

type MaybeRow = EpochRow | undefined;

/** Only the lease's owner plans, hands over and goes idle (§6). */
export const ownsLease = (wake: Wake, owner: number): boolean => wake.owner === owner;

/** I7: nobody has woken the coordinator since it looked. */
export const isStillAsleep = (wake: Wake, sequence: number): boolean => wake.sequence === sequence;

/** A paused or stopped pipeline plans nothing (§6, Status). */
export const isRunning = (head: Head): boolean => head.status === "running";

/** The first error stays. A paused pipeline may be stopped: its commits go on, and can lose (I8). */
export const isStopped = (head: Head): boolean => head.status === "stopped";

/** I1, I3: epochs are decided one after the other. */
export const isNextToDecide = (head: Head, epoch: number): boolean => head.decided === epoch - 1;

/** I4: epochs are committed one after the other, and only decided ones. */
export const isNextToCommit = (head: Head, epoch: number): boolean =>
  head.committed === epoch - 1 && epoch <= head.decided;

/** I4: nothing that was decided waits for its commit. */
export const isFullyCommitted = (head: Head): boolean => head.committed === head.decided;

/** The row is what the caller read: its own zombie cannot fence it (§5, plan). `seen`: the attempt, or null for no row. */
export const isAsSeen = (row: MaybeRow, seen: number | null): boolean => (row?.attempt ?? null) === seen;

/** I2, I3: only the current attempt is acknowledged, decided or fenced, and only before it is settled. */
export const isPlannedAt = (row: MaybeRow, attempt: number): row is PlannedEpoch =>
  row?.status === "planned" && row.attempt === attempt;

/** I3: it can never be decided by its tasks any more, and no ack can come. */
export const isFencedAt = (row: MaybeRow, attempt: number): row is FencedEpoch =>
  row?.status === "fenced" && row.attempt === attempt;

/** I3: after the decision there is only commit. */
export const isDecidedAt = (row: MaybeRow, attempt: number): row is DecidedEpoch =>
  row?.status === "decided" && row.attempt === attempt;

export const isDecided = (row: MaybeRow): row is DecidedEpoch => row?.status === "decided";

/** I8: a zombie may not stop the pipeline; the last attempt may, until its epoch is decided. */
export const isLastAttempt = (row: MaybeRow, attempt: number): boolean =>
  row !== undefined && row.status !== "decided" && row.attempt === attempt;

/** I4: its commit is done, or given up by the user's word. */
export const isSettled = (unit: Unit): boolean => unit.status !== "prepared";

/** I5: savepoints and restores hold a checkpoint; the last one is what the next epoch starts from. (HEAD may have been read before the row.) */
export const isHeld = (row: DecidedEpoch, head: Head): boolean => row.pins.length > 0 || row.epoch >= head.decided;

/** I5: its checkpoint was dropped before anybody held it. */
export const isForgotten = (row: MaybeRow): boolean => isDecided(row) && row.dropped && row.pins.length === 0;
