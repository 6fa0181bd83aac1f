/**
 * The life of an epoch, as data (protocol §5):
 *
 *     (none) ── plan ──▶ planned ── decide ──▶ decided ── commit ──▶ committed
 *                         ▲   │
 *                    plan │   │ fence
 *                         │   ▼
 *                         fenced
 *
 * `planned → planned` is another attempt. A restore decides over a planned or fenced row; a fenced at-most-once attempt with claims is decided as it is ("lose"). "Committed" is not a status of its own: it is HEAD.committed, and
 * a decided row's `committedAt`. `transitions` below is this picture as a table.
 */
import type { ErrorDescription } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Guarantee } from "../pipeline/topology.ts";

/** One partition's share of an epoch: `[from, to)`, cut into sub-ranges at `cuts`. */
export interface PlannedPartition {
  readonly id: string;
  readonly identity: Json;
  readonly from: number;
  readonly to: number;
  /** Inner boundaries; sub-range i is between the i-th and the next of `[from, ...cuts, to]`. */
  readonly cuts: readonly number[];
  /** What the source had of it when this was planned, for people: readable up to `end`, written up to `high`. Absent where both are `to`. */
  readonly seen?: { readonly end: number; readonly high: number };
  /** No partition, but what the source remembers besides: people are not shown it. */
  readonly isRecord?: true;
  /** Does not hold the watermark back in this epoch. */
  readonly idle: boolean;
  /** Largest event time before this epoch; null if no record was ever read. */
  readonly maxEventTime: number | null;
  /** Processing time of the last plan that took records of it, this one included, or that first saw it; epoch milliseconds. */
  readonly activeAt: number;
}

/** What every attempt of an epoch shares (I1). */
export interface EpochPlan {
  /** About how many bytes the ranges hold; decides the number of tasks, and nothing else. */
  readonly bytes: number;
  readonly partitions: readonly PlannedPartition[];
  /** Ids of partitions that were known before, and are no more: they are over, and cannot move the watermark. Absent: none. */
  readonly forgotten?: readonly string[];
  /** W(n-1), epoch milliseconds; null before the first. */
  readonly watermark: number | null;
  /** At the end of a bounded run: the watermark goes at least here. */
  readonly advanceTo: number | null;
  /** The plan's time, for records that have none. */
  readonly processingTime: number;
}

/** What may differ between attempts. */
export interface AttemptPlan {
  readonly codeDigest: string;
  /** Number of tasks of each stage; a fused epoch has one task, which does all stages. */
  readonly tasks: readonly number[];
  readonly fused: boolean;
  /** By its rules the attempt is finished, whoever finds it. Absent: exactly-once. */
  readonly guarantee?: WeakerGuarantee;
}

export type WeakerGuarantee = Exclude<Guarantee, "exactly-once">;

/** What went wrong with an attempt. `shrink`: it ran out of time or memory, so the next one may take less (I1). */
export interface Failure {
  readonly error: ErrorDescription;
  readonly shrink: boolean;
}

/** For people to see what holds a commit up. */
export interface CommitFailure {
  readonly sink: string;
  readonly error: ErrorDescription;
  /** Failed commits so far, and when the first and the last of them failed; epoch milliseconds. */
  readonly count: number;
  readonly since: number;
  readonly at: number;
}

export interface Counts {
  /** Records read, skipped and dead-lettered; bytes of values read. */
  readonly records: number;
  readonly bytes: number;
  readonly skipped: number;
  readonly deadLettered: number;
  /** (record, window) pairs that came too late. */
  readonly late: number;
  /** Rows written, per sink. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Key groups `[from, to)` share this chain of snapshot objects: a base, then deltas. */
export interface ChainRun {
  readonly from: number;
  readonly to: number;
  readonly objects: readonly string[];
}

/** State of all stages at the end of an epoch: per stage, runs that cover all key groups. Stages without state are absent. */
export interface Checkpoint {
  readonly stages: Readonly<Record<string, readonly ChainRun[]>>;
}

/** A task's word that its share is durable. The first ack of a task counts, whichever invocation it came from (protocol §5). */
export interface Ack {
  readonly stage: number;
  readonly task: number;
  readonly nonce: string;
  /** By stage: the chains of this task's key groups. */
  readonly chains: Readonly<Record<string, readonly ChainRun[]>>;
  /** Key of the object with the partial aggregates for the next stage. */
  readonly shuffle: string | null;
  readonly prepared: readonly { readonly stage: number; readonly sink: string; readonly handle: Json }[];
  readonly counts: Counts;
  readonly maxEventTimes: Readonly<Record<string, number>>;
  /** Smallest and largest end of a window that is still open, over this task's key groups. */
  readonly nextFire: number | null;
  readonly openUntil: number | null;
  /** What the state of this task's key groups would be restored from: bytes of its bases and deltas, before compression. */
  readonly stateBytes: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** At-most-once: sinks to which the rows have come through, as the task has confirmed. */
  readonly published?: readonly string[];
}

/** What an at-most-once epoch may have lost: nothing of it is missing that is not counted here. */
export interface Loss {
  /** Tasks that came to nothing, when others had claimed their rows already: their share of the input is in no state, and its rows nowhere. */
  readonly shares: readonly { readonly stage: number; readonly task: number }[];
  /** Rows, per sink, which a task had claimed and nobody has confirmed: each may be there. */
  readonly rows: Readonly<Record<string, number>>;
}

/** All that a pipeline has lost in its life. */
export interface LostSoFar {
  readonly epochs: number;
  readonly shares: number;
  readonly rows: number;
}

export interface Unit {
  readonly sink: string;
  readonly key: string;
  readonly unit: Json;
  readonly status: "prepared" | "committed" | "abandoned";
}

/** A partition after an epoch. */
export interface PartitionState {
  readonly id: string;
  readonly identity: Json;
  readonly position: number;
  readonly maxEventTime: number | null;
  readonly activeAt: number;
}

/** What a decision fixes for ever. */
export interface Decision {
  readonly kind: "process" | "restore";
  readonly checkpoint: Checkpoint;
  readonly partitions: readonly PartitionState[];
  /** W(n). */
  readonly watermark: number | null;
  readonly nextFire: number | null;
  readonly openUntil: number | null;
  readonly counts: Counts;
  /** Digest of the decision without its units. */
  readonly token: string;
  readonly unitCount: number;
  /** Sinks that have units in this epoch. */
  readonly sinks: readonly string[];
  /** Per sink and unit key, `sink/key`: the last epoch up to this one in which it had output. */
  readonly previous: Readonly<Record<string, number>>;
  readonly decidedAt: number;
  /** At-most-once, where anything may be lost. */
  readonly loss?: Loss;
  /** Up to this epoch; absent while nothing was ever lost. */
  readonly lostSoFar?: LostSoFar;
}

/** An attempt that was given up, for people to see. */
export interface FailedAttempt {
  readonly attempt: number;
  readonly plannedAt: number;
  /** When the next one was planned. */
  readonly replacedAt: number;
  readonly error: ErrorDescription;
}

interface EpochBase {
  readonly epoch: number;
  readonly attempt: number;
  readonly plan: EpochPlan;
  readonly attemptPlan: AttemptPlan;
  readonly plannedAt: number;
  /** Failed attempts in a row. */
  readonly failures: number;
  /** What went wrong with this attempt; null while nothing has. */
  readonly failure: Failure | null;
  /** The last few attempts before that failed; absent where none did. */
  readonly earlier?: readonly FailedAttempt[];
}
export interface PlannedEpoch extends EpochBase {
  readonly status: "planned";
}
export interface FencedEpoch extends EpochBase {
  readonly status: "fenced";
}
export interface DecidedEpoch extends EpochBase {
  readonly status: "decided";
  readonly decision: Decision;
  /** Why a commit of it failed last; null while none has. Their back-off grows with the decision's age. */
  readonly commitFailure: CommitFailure | null;
  readonly committedAt: number | null;
  /** The checkpoint is not retained any more; the collector may delete what only it names. */
  readonly dropped: boolean;
  /** Savepoints and running restores that hold the checkpoint. */
  readonly pins: readonly string[];
}
export type EpochRow = PlannedEpoch | FencedEpoch | DecidedEpoch;

/** What an attempt consists of. */
export function tasksOf({ attemptPlan: { fused, tasks } }: EpochRow): { stage: number; task: number }[] {
  const counts = fused ? [1] : tasks;
  return counts.flatMap((count, stage) => Array.from({ length: count }, (_, task) => ({ stage, task })));
}

/** What was decided in an epoch; undefined while nothing is, or where there is no row. */
export const decidedIn = (row: EpochRow | undefined): Decision | undefined =>
  row?.status === "decided" ? row.decision : undefined;

/** The verbs of the ledger that change an epoch's status. */
export type Transition = "plan" | "fence" | "decide" | "lose" | "restore";

/** The table of transitions: from a status, by a verb, to a status; a verb that is not there is refused. Nothing leaves `decided` (I3). */
export const transitions: Readonly<
  Record<EpochRow["status"] | "none", Readonly<Partial<Record<Transition, EpochRow["status"]>>>>
> = {
  none: { plan: "planned", restore: "decided" },
  planned: { plan: "planned", fence: "fenced", decide: "decided", restore: "decided" },
  fenced: { plan: "planned", lose: "decided", restore: "decided" },
  decided: {},
};
