import type { UserCodeError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { ColumnRows, TextRows } from "./columns.ts";

/** Who writes: everything staged is named by it (protocol §1, Names). */
export interface SinkContext {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly stage: number;
  readonly task: number;
  readonly nonce: string;
  /** The rows will be published, not prepared. */
  readonly direct?: true;
  /** The plan's, epoch milliseconds: for targets that judge a row by the clock, which would judge it otherwise at the next attempt (I6). */
  readonly processingTime?: number;
}

/** Rows for a sink, in order. */
export type RowBatch<T = unknown> = readonly T[];

/** Takes a row that the sink cannot encode, by its place in the batch: it follows the pipeline's `onError` (protocol §4). */
export type RefusedRow = (index: number, error: UserCodeError) => void;

/** Event time of a row of the batch, epoch milliseconds; of an aggregate's row, the last millisecond of its window. */
export type TimeOfRow = (index: number) => number;

/** One task's output to one sink in one epoch, not visible to any reader. */
export interface Transaction<T = unknown> {
  /**
   * Takes the rows; they may be encoded at once, and written later. A row that cannot be encoded goes to `refused`, and the others are written; without
   * it, or if it throws, the transaction is of no more use. Throws `UserCodeError` for such a row where there is no `refused`.
   * `timeOf` is good only during the call; the engine always gives it.
   */
  write(rows: RowBatch<T>, refused?: RefusedRow, timeOf?: TimeOfRow): void;
  /**
   * The same as `write(columns.rows(), refused, (row) => columns.times[row])`, for a sink that can do it without an object for each row. The engine calls it in place of `write` where
   * rows are columns of what an aggregate made.
   */
  writeColumns?(columns: ColumnRows<T>, refused?: RefusedRow): void;
  /** The same of rows that are texts, for a sink that can do it without a string for each. The engine calls it where texts come from a source as they are, and the sink's option `value` is `text()`. */
  writeTexts?(texts: TextRows, refused?: RefusedRow): void;
  /** Resolves when so little is buffered that more may be written. Called between batches, never per row. */
  drained(): Promise<void>;
  /** Gives up before `preCommit`: frees what it holds, and deletes what it has staged. Never throws. */
  discard?(): Promise<void>;
}

/** A pre-committed transaction of the acks, with the task that made it. */
export interface PreparedTask<Prepared extends Json = Json> {
  readonly stage: number;
  readonly task: number;
  readonly handle: Prepared;
}

/** A part of a decided epoch that is committed by itself. `key` is unique within sink and epoch, and the same in every epoch. */
export interface CommitUnit<Unit extends Json = Json> {
  readonly key: string;
  readonly unit: Unit;
}

/** What a unit may know of the decision. `token` is its digest; `previous` the last epoch before in which the unit's key had output. */
export interface UnitDecision {
  readonly epoch: number;
  readonly token: string;
  previous(key: string): number | null;
}

/**
 * What a sink may ask the ledger while it commits, about its own unit key. Every read is strongly consistent; what is read before zombies are fenced may
 * be out of date by the time that it is used.
 */
export interface CommitLedger {
  /** The key's unit in a decided epoch; undefined: none, or collected since, which for a zombie means done. */
  unit(
    epoch: number,
  ): Promise<{ readonly status: "prepared" | "committed" | "abandoned"; readonly unit: Json } | undefined>;
  /** When the epoch was decided, epoch milliseconds; undefined: it is not, or its row is collected. */
  decidedAt(epoch: number): Promise<number | undefined>;
  /** HEAD.committed: the last epoch whose output all is visible. */
  committed(): Promise<number>;
  /** The key's unit in an epoch that was abandoned is visible after all: it is not lost. */
  recover(epoch: number): Promise<void>;
}

/** A unit to make visible. */
export interface CommitContext<Unit extends Json = Json> {
  readonly pipeline: string;
  readonly uid: string;
  readonly sink: string;
  readonly epoch: number;
  readonly key: string;
  readonly unit: Unit;
  readonly ledger: CommitLedger;
}

/** Which staged things nobody will ever need: attempts of epochs that are settled otherwise. */
export type Garbage = (name: { epoch: number; attempt: number }) => boolean;

/**
 * A sink in two-phase commit (protocol §9; after Flink's `TwoPhaseCommitSinkFunction`). Everything read from the ledger
 * (`Prepared`, `Unit`) must be validated before use.
 */
export interface TwoPhaseCommitSink<T = unknown, Prepared extends Json = Json, Unit extends Json = Json> {
  /**
   * Checks the target and takes possession of it for this ledger: called by every `Plan` before it plans, and before units are committed.
   * Idempotent. `LossError` if it belongs to another ledger or sink.
   *
   * @param owner.direct rows will be published, and nothing is left to commit
   * @param owner.decided the last decided epoch, from `Plan`, unless `direct`: committed output of a later one says that the ledger is an older one (I8). `LossError` then; `Plan` reads the
   *   ledger again before it believes it
   */
  open(owner: { pipeline: string; uid: string; sink: string; direct?: boolean; decided?: number }): Promise<void>;
  begin(context: SinkContext): Promise<Transaction<T>>;
  /** All is durable, and valid for the target. Undefined if nothing was written: then there is nothing to commit. */
  preCommit(transaction: Transaction<T>): Promise<Prepared | undefined>;
  /**
   * For the weaker guarantees, in place of `preCommit` and all that follows: once it resolves, the rows are visible and durable. It is done once for a transaction, and not
   * tried again; another invocation may publish the same rows, or others of the same task: nothing is overwritten or taken for a repetition. A sink without it is prepared and
   * committed at once, if it has neither `units` nor `seal`; else it takes exactly-once alone.
   */
  publish?(transaction: Transaction<T>): Promise<void>;
  /** Pure; run by Decide. Default: one unit a task, keyed `stage-task`. */
  units?(prepared: readonly PreparedTask<Prepared>[], decision: UnitDecision): CommitUnit<Unit>[];
  /** Makes the unit visible. Idempotent, also against a delayed zombie; `LossError` if it can never succeed. */
  commit(context: CommitContext<Unit>): Promise<void>;
  /**
   * The unit's row is marked as abandoned, by the user's word. Makes sure that no committer which is still under way can make it visible from here on, and
   * says whether one already has, or that nobody can tell any more. Without it nothing that is abandoned is ever visible: a row that is settled is left out by `seal`.
   */
  abandon?(context: CommitContext<Unit>): Promise<"committed" | "lost" | "unknown">;
  /** Ends a transaction whose attempt is fenced. Idempotent. */
  abort(prepared: Prepared): Promise<void>;
  /** All units of this sink and epoch are committed; called only for epochs with units. Idempotent. */
  seal?(epoch: {
    pipeline: string;
    uid: string;
    sink: string;
    epoch: number;
    units: readonly CommitUnit<Unit>[];
  }): Promise<void>;
  /** Deletes what fenced or forgotten attempts have staged. Returns how many things went. */
  sweep?(owner: { pipeline: string; uid: string; sink: string }, garbage: Garbage): Promise<number>;
  /**
   * Puts what is committed in order, without changing what readers find: called by the collector, after `sweep`. `committed` is the last committed epoch, read
   * after the time `now`, epoch milliseconds. Idempotent, whatever ends it; several may do it at once. Returns how many things went.
   */
  tidy?(
    owner: { pipeline: string; uid: string; sink: string },
    time: { committed: number; now: number },
  ): Promise<number>;
  close(): Promise<void>;
}
