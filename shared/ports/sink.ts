import type { UserCodeError } from "../errors.ts";
import type { Json } from "../json.ts";

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
}

/** Rows for a sink, in order. */
export type RowBatch<T = unknown> = readonly T[];

/** Takes a row that the sink cannot encode, by its place in the batch: it follows the pipeline's `onError` (protocol §4). */
export type RefusedRow = (index: number, error: UserCodeError) => void;

/** One task's output to one sink in one epoch, not visible to any reader. */
export interface Transaction<T = unknown> {
  /**
   * Takes the rows; they may be encoded at once, and written later. A row that cannot be encoded goes to `refused`, and the others are written; without
   * it, or if it throws, the transaction is of no more use. Throws `UserCodeError` for such a row where there is no `refused`.
   */
  write(rows: RowBatch<T>, refused?: RefusedRow): void;
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
   */
  open(owner: { pipeline: string; uid: string; sink: string }): Promise<void>;
  begin(context: SinkContext): Promise<Transaction<T>>;
  /** All is durable, and valid for the target. Undefined if nothing was written: then there is nothing to commit. */
  preCommit(transaction: Transaction<T>): Promise<Prepared | undefined>;
  /** Pure; run by Decide. Default: one unit a task, keyed `stage-task`. */
  units?(prepared: readonly PreparedTask<Prepared>[], decision: UnitDecision): CommitUnit<Unit>[];
  /** Makes the unit visible. Idempotent, also against a delayed zombie; `LossError` if it can never succeed. */
  commit(context: {
    pipeline: string;
    uid: string;
    sink: string;
    epoch: number;
    key: string;
    unit: Unit;
  }): Promise<void>;
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
  close(): Promise<void>;
}
