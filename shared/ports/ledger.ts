import type { Ack, AttemptPlan, Decision, EpochPlan, EpochRow, Failure, Unit } from "../epoch/epoch.ts";
import type { ErrorDescription } from "../errors.ts";

/** The item `HEAD`. */
export interface Head {
  readonly pipeline: string;
  /** Made with the ledger; part of every name (protocol §1). */
  readonly uid: string;
  readonly decided: number;
  readonly committed: number;
  readonly status: "running" | "paused" | "stopped";
  /** Why it is stopped. */
  readonly error: ErrorDescription | null;
  /** Topology that the state belongs to (`pipeline/fingerprint.ts`), as JSON text, so that a difference can be spelled out. */
  readonly fingerprint: string;
}

/** The item `WAKE`: apart from HEAD, since triggers write it often. */
export interface Wake {
  readonly sequence: number;
  /** Run number of the execution that holds the lease; null: nobody. */
  readonly owner: number | null;
  /** The highest run number ever granted. */
  readonly run: number;
  /** History events that the owner's execution has used, as far as Plan has counted them. */
  readonly events: number;
}

export interface EpochId {
  readonly epoch: number;
  readonly attempt: number;
}

export interface DecisionWrite {
  readonly decision: Decision;
  readonly units: readonly Omit<Unit, "status">[];
  readonly ackCount: number;
  readonly committed?: boolean;
}

/**
 * The record of what was planned, acknowledged, decided and committed; the only authority (protocol §5). Methods are the protocol's
 * verbs: each is one atomic conditional write, or a strongly consistent read. Outcomes that steer the protocol are return values; an exception is
 * infrastructure, and says nothing about whether the write happened.
 */
export interface Ledger {
  /** Makes HEAD and WAKE unless they exist; returns HEAD. */
  open(first: { pipeline: string; uid: string; fingerprint: string }): Promise<Head>;
  /** Undefined: nothing was ever made here. */
  head(): Promise<Head | undefined>;
  wake(): Promise<Wake>;
  epoch(epoch: number): Promise<EpochRow | undefined>;
  /** Rows with numbers in `[from, to]`, ascending. */
  epochs(range: { from: number; to: number }): Promise<EpochRow[]>;

  // ---- plan and attempts
  /**
   * Plans HEAD.decided + 1 (I1). Conditional on: HEAD.decided = epoch - 1 and status running; `owner` holds the lease; the row is as `seen` says:
   * its attempt, or null for none. A row that is there keeps its plan, unless `plan` is a smaller one after a failure that asked for it
   * (the caller's duty), and gets attempt + 1. Adds `events` to WAKE in the same write.
   */
  plan(write: {
    epoch: number;
    seen: number | null;
    owner: number;
    plan: EpochPlan;
    attemptPlan: AttemptPlan;
    events: number;
    now: number;
  }): Promise<{ outcome: "planned"; attempt: number } | { outcome: "not-owner" } | { outcome: "changed" }>;
  /**
   * Put-if-absent, under an attempt that is planned; gives the ack that counts, or `fenced` where the attempt is over and had no ack of this task.
   *
   * @param claims rows become visible by it (at-most-once): the attempt is planned at the very moment of the write (I2). Otherwise an ack may also land just after a
   * fence, where nobody reads it
   */
  ack(id: EpochId, ack: Ack, claims?: boolean): Promise<{ outcome: "acknowledged"; ack: Ack } | { outcome: "fenced" }>;
  /** Notes to which sinks the rows of an ack have come through; where the ack is not there any more, nothing. */
  confirm(id: EpochId, task: { stage: number; task: number }, sinks: readonly string[]): Promise<void>;
  /** Acks of the attempt, by stage and task; all stages if none is given. */
  acks(id: EpochId, stage?: number): Promise<Ack[]>;
  /** Notes what went wrong; changes nothing unless the attempt is planned. The first note of an attempt stays. */
  fail(id: EpochId, failure: Failure): Promise<void>;
  /**
   * The decision (I3): planned at this attempt → decided, HEAD.decided epoch-1 → epoch, units written, and only if exactly `ackCount` acks are there.
   * `decided` is also the answer to the same decision (equal token) made again. `committed`: there is nothing to commit, in this and all epochs before: HEAD.committed
   * goes along.
   */
  decide(id: EpochId, write: DecisionWrite): Promise<"decided" | "fenced" | "incomplete">;
  /** The same, of an attempt that is fenced, by the acks that it has (at-most-once): what is claimed stays, and the rest is lost. */
  lose(id: EpochId, write: DecisionWrite): Promise<"decided" | "changed">;
  /**
   * Planned at this attempt → fenced, counting a failure, with `failure` unless one was noted before. After it the attempt can never be decided.
   *
   * @param owner only while this run holds the lease; otherwise the attempt is somebody else's matter, as if it were superseded
   */
  fence(
    id: EpochId,
    failure: Failure,
    owner?: number,
  ): Promise<{ outcome: "fenced"; row: EpochRow } | { outcome: "decided" } | { outcome: "superseded" }>;

  // ---- commit
  /** Units of a decided epoch in the order of the decision; one sink's, if given. */
  units(epoch: number, sink?: string): Promise<Unit[]>;
  /** prepared → committed. `gone`: the row is not there any more, which for a zombie means done. An abandoned one stays so. */
  commitUnit(epoch: number, sink: string, key: string): Promise<"committed" | "abandoned" | "gone">;
  /** HEAD.committed epoch-1 → epoch, only if all `unitCount` units are committed or abandoned (I4). Idempotent. */
  commit(epoch: number, now: number): Promise<"committed" | "incomplete" | "out-of-order">;
  /** Notes why a commit failed, for people; changes nothing unless the epoch is decided and not committed. */
  failCommit(epoch: number, failure: { sink: string; error: ErrorDescription; now: number }): Promise<void>;
  /** prepared → abandoned, by the user's word: what the unit holds is lost. */
  abandonUnit(epoch: number, sink: string, key: string): Promise<"abandoned" | "committed" | "gone">;
  /** abandoned → committed: its sink has found that it was visible already, and so nothing is lost. */
  recoverUnit(epoch: number, sink: string, key: string): Promise<"committed" | "gone">;

  // ---- status
  /**
   * running or paused → stopped. Only the current attempt, or the committer of what is uncommitted, may stop it (I8): conditional on `attempt` being planned or
   * fenced there and above HEAD.decided, on the unit being prepared, on the epoch being the next to commit, or on `owner` holding the lease.
   */
  stop(
    error: ErrorDescription,
    by:
      | { attempt: EpochId }
      | { unit: { epoch: number; sink: string; key: string } }
      | { uncommitted: number }
      | { owner: number },
  ): Promise<"stopped" | "changed">;
  /** running → paused, or back from paused or stopped. `seen`: HEAD as it is after the write. */
  setStatus(status: "running" | "paused"): Promise<Head>;

  // ---- lease and wake-ups (protocol §6)
  /** Increments the sequence; takes the lease from `over`, an execution that is proved to be over, in the same write. Returns WAKE after it. */
  increment(over: number | null): Promise<Wake>;
  /** Owner and run are what was read → owner and run are `run.run + 1`. Returns the new run, or null if they changed. */
  grant(seen: { owner: number | null; run: number }): Promise<number | null>;
  /** The owner passes the lease to a successor in one write; events start at 0. */
  handOver(owner: number): Promise<number | null>;
  /** Counts history events of the owner's execution, where no `plan` write does it. False: not the owner. */
  spend(owner: number, events: number): Promise<boolean>;
  /** Going idle: owner and sequence are what was read, nothing decided is uncommitted unless the status is not running → lease released. */
  release(owner: number, sequence: number): Promise<"released" | "changed">;

  // ---- retention and restore (protocol §8)
  /** Marks decided checkpoints as not retained, unless they are pinned, or the last decided one; each by itself. What became of each, in order. */
  drop(epochs: readonly number[]): Promise<("dropped" | "pinned" | "missing")[]>;
  /** Holds a checkpoint, unless it is dropped. */
  pin(epoch: number, name: string): Promise<"pinned" | "dropped" | "missing">;
  unpin(epoch: number, name: string): Promise<void>;
  /**
   * Decides HEAD.decided + 1 as a restore (§5): all decided epochs are committed; a planned or fenced row is replaced, attempt + 1. Unlike `decide`
   * it has no units, and is committed at once.
   */
  restore(write: {
    epoch: number;
    seen: number | null;
    decision: Decision;
    plan: EpochPlan;
    attemptPlan: AttemptPlan;
    fingerprint: string;
    now: number;
  }): Promise<"decided" | "changed">;
  /**
   * Deletes rows that nobody needs: acks of attempts below the current or decided one, acks and units of committed epochs below
   * `detailsFrom`, and epochs that are dropped and unpinned below `epochsFrom` (so `detailsFrom >= epochsFrom`). Abandoned units stay, with their epochs:
   * what comes after them is told by them (protocol §9, `previous`). So do the epochs that `previous` of an uncommitted or the last committed one names. Returns how many rows went.
   */
  trim(keep: { detailsFrom: number; epochsFrom: number }): Promise<number>;
  close(): Promise<void>;
}
