import { isDeepStrictEqual } from "node:util";
import type { Ack, DecidedEpoch, EpochRow, Unit } from "../../epoch/epoch.ts";
import type { ErrorDescription } from "../../errors.ts";
import type { Head, Wake } from "../../ports/ledger.ts";

/** The items of a ledger in memory, remembering which were touched since it was last asked. */
export class WatchedItems extends Map<string, string> {
  readonly #before = new Map<string, string | undefined>();

  override set(key: string, text: string): this {
    if (!this.#before.has(key)) this.#before.set(key, this.get(key));
    return super.set(key, text);
  }

  override delete(key: string): boolean {
    if (!this.#before.has(key)) this.#before.set(key, this.get(key));
    return super.delete(key);
  }

  /** What changed since the last call. */
  changes(): Change[] {
    if (this.#before.size === 0) return [];
    const changes = [...this.#before].flatMap(([key, before]) => {
      const after = this.get(key);
      return before === after ? [] : [{ key, before: parsed(before), after: parsed(after) }];
    });
    this.#before.clear();
    return changes;
  }

  item<T>(key: string): T | undefined {
    return parsed(this.get(key)) as T | undefined;
  }

  all<T>(pattern: RegExp): T[] {
    return [...this.keys()]
      .filter((key) => pattern.test(key))
      .sort()
      .map((key) => this.item<T>(key)!);
  }
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What the checker cannot see in the ledger itself. */
export interface Outside {
  violated(invariant: string, message: string): void;
  note(text: string): void;
  isKnownExecution(run: number): boolean;
  /** Whoever plans now has the lease. */
  mayPlan(): boolean;
  /** The unit's rows are where readers see them. */
  isVisible(epoch: number, unit: Unit): boolean;
  /** The unit's rows are there, seen or not. */
  isReadable(epoch: number, unit: Unit): boolean;
  objectExists(key: string): boolean;
  /** Something that exactly-once rests on is really gone, or is as the error says. */
  isRealLoss(error: ErrorDescription | null): boolean;
  /** Code of another topology than the state's. */
  isForeign(codeDigest: string): boolean;
  planned(row: EpochRow, before: EpochRow | undefined): void;
  acked(ack: Ack): void;
  decided(row: DecidedEpoch, acks: readonly Ack[]): void;
  abandoned(epoch: number, unit: Unit): void;
}

const epochOf = (key: string): string => key.slice(0, "EPOCH#".length + 12);
const numbersOf = (key: string): { epoch: number; attempt: number } => ({
  epoch: Number(key.slice(6, 18)),
  attempt: Number(key.slice(19, 31)),
});

/** Looks at every write of the ledger (I1 to I5, I8), by rules of its own. */
export class LedgerChecker {
  readonly #items: WatchedItems;
  readonly #outside: Outside;
  /** HEAD.committed, as of the last look. */
  committed = 0;

  constructor(items: WatchedItems, outside: Outside) {
    this.#items = items;
    this.#outside = outside;
  }

  check(): void {
    const changes = this.#items.changes();
    for (const change of changes) {
      const { key, before, after } = change;
      if (key === "HEAD") this.#head(before as Head | undefined, after as Head | undefined);
      else if (key === "WAKE") this.#wake(before as Wake | undefined, after as Wake | undefined);
      else if (key.includes("#ACK#")) this.#ack(key, before, after);
      else if (key.includes("#UNIT#")) this.#unit(key, before as Unit | undefined, after as Unit | undefined);
      else this.#epoch(key, before as EpochRow | undefined, after as EpochRow | undefined);
    }
  }

  #head(before: Head | undefined, after: Head | undefined): void {
    this.#must("I5", after !== undefined, "HEAD is gone");
    if (!before || !after) return;
    const { decided, committed, status, error } = after;
    const row = this.#items.item<EpochRow>(epochKey(decided));
    this.#must("I3", after.uid === before.uid, "the uid changed");
    this.#must("I3", decided === before.decided || decided === before.decided + 1, "decided epochs do not ascend");
    this.#must("I3", decided === 0 || row?.status === "decided", `HEAD names epoch ${decided}, which is not decided`);
    this.#must("I4", committed === before.committed || committed === before.committed + 1, "an epoch was left out");
    this.#must("I4", committed <= decided, "an epoch is committed that is not decided");
    this.committed = committed;
    if (committed > before.committed) this.#committed(committed);
    if (status !== before.status) this.#outside.note(`HEAD is ${status}${error ? `: ${error.message}` : ""}`);
    if (status === "stopped" && before.status !== "stopped" && error?.kind === "user")
      this.#outside.violated("user code", `${error.place?.operator ?? "a function"} throws: ${error.message}`);
    else if (status === "stopped" && before.status !== "stopped")
      this.#must("I8", this.#outside.isRealLoss(error), `stopped without a loss: ${error?.code}: ${error?.message}`);
  }

  #committed(epoch: number): void {
    this.#outside.note(`epoch ${epoch} is committed`);
    const units = this.#items.all<Unit>(new RegExp(`^${epochKey(epoch)}#.*#UNIT#`));
    const row = this.#items.item<DecidedEpoch>(epochKey(epoch));
    this.#must("I4", units.length === row?.decision.unitCount, `epoch ${epoch} lacks units`);
    for (const unit of units) {
      this.#must("I4", unit.status !== "prepared", `epoch ${epoch} is committed, and ${unit.sink}/${unit.key} is not`);
      if (unit.status === "committed") this.#mustBeVisible(epoch, unit);
    }
  }

  #wake(before: Wake | undefined, after: Wake | undefined): void {
    if (!before || !after) return;
    this.#must("I7", after.sequence >= before.sequence, "the wake sequence went back");
    this.#must("I7", after.run >= before.run, "the run number went back");
    if (after.owner === before.owner) return;
    this.#outside.note(`the lease goes from run ${before.owner} to run ${after.owner}`);
    if (after.owner === null) return;
    this.#must("I7", after.owner === after.run && after.run === before.run + 1, "a lease went to an old run");
    this.#must(
      "I7",
      !this.#outside.isKnownExecution(after.owner),
      `run ${after.owner} was started before it had the lease`,
    );
  }

  #epoch(key: string, before: EpochRow | undefined, after: EpochRow | undefined): void {
    if (!after) {
      const committed = this.#items.item<Head>("HEAD")?.committed ?? 0;
      const isForgotten = before?.status === "decided" && before.dropped && before.epoch <= committed;
      this.#must("I5", isForgotten, `the row of epoch ${before?.epoch} was deleted, and was still needed`);
      return;
    }
    const { epoch, attempt, status } = after;
    if (before?.status !== status || before.attempt !== attempt)
      this.#outside.note(`epoch ${epoch} is ${status} at attempt ${attempt}`);
    if (before?.status === "decided") {
      this.#decidedRow(before, after);
      return;
    }
    this.#must("I1", attempt >= (before?.attempt ?? 0), "an attempt went back");
    const mayBeCutShort = after.attemptPlan.guarantee === "at-most-once" && status === "decided";
    if (before?.status === "fenced" && before.attempt === attempt)
      this.#must(
        "I3",
        status === "fenced" || mayBeCutShort,
        `attempt ${epoch}.${attempt} was fenced, and is ${status}`,
      );
    if (after.status === "decided") {
      this.#decision(key, before, after);
      return;
    }
    if (before?.status !== status || before.attempt !== attempt) this.#attempt(after);
    if (before?.attempt !== attempt) this.#outside.planned(after, before);
    this.#planned(before, after);
  }

  /** Only the lease's owner plans, and only while the pipeline runs. Whose call it is, is known outside. */
  #attempt({ epoch, attempt, status, attemptPlan }: EpochRow): void {
    if (status !== "planned") return;
    const isForeign = this.#outside.isForeign(attemptPlan.codeDigest);
    this.#must("I8", !isForeign, `attempt ${epoch}.${attempt} is planned by a pipeline of another topology`);
    const isRunning = this.#items.item<Head>("HEAD")?.status === "running";
    this.#must("I7", isRunning, `attempt ${epoch}.${attempt} is planned, and the pipeline does not run`);
    this.#must("I7", this.#outside.mayPlan(), `attempt ${epoch}.${attempt} is planned by one that has no lease`);
  }

  #planned(before: EpochRow | undefined, after: EpochRow): void {
    const { epoch, plan } = after;
    this.#must("I1", this.#items.item<Head>("HEAD")?.decided === epoch - 1, `epoch ${epoch} is planned out of turn`);
    const last = this.#items.item<DecidedEpoch>(epochKey(epoch - 1));
    const { processingTime, watermark } = plan;
    this.#must("I1", processingTime >= (last?.plan.processingTime ?? 0), `the time of epoch ${epoch} goes back`);
    this.#must("I1", watermark === (last?.decision.watermark ?? null), `epoch ${epoch} begins with another watermark`);
    for (const partition of plan.partitions) {
      const known = last?.decision.partitions.find(({ id }) => id === partition.id);
      const isContiguous = known === undefined || known.position === partition.from;
      this.#must("I1", isContiguous, `${partition.id} goes on at ${partition.from}, not at ${known?.position}`);
    }
    if (!before || isDeepStrictEqual(before.plan, plan)) return;
    const isSmaller = plan.partitions.every(({ to }, index) => to <= before.plan.partitions[index]!.to);
    const mayShrink = isSmaller && before.failure?.shrink === true;
    this.#must("I1", mayShrink, `attempt ${epoch}.${after.attempt} has another plan than the one before it`);
  }

  #decision(key: string, before: EpochRow | undefined, row: DecidedEpoch): void {
    const { epoch, attempt, decision } = row;
    this.#must("I3", this.#items.item<Head>("HEAD")?.decided === epoch, `epoch ${epoch} is decided without HEAD`);
    const acks = this.#items.all<Ack>(new RegExp(`^${key}#0*${attempt}#ACK#`));
    if (decision.kind === "process") {
      // At-most-once: what is claimed of an attempt that is given up.
      const isAtMostOnce = row.attemptPlan.guarantee === "at-most-once";
      const isCutShort = isAtMostOnce && acks.length > 0 && before?.status === "fenced";
      const wasPlanned = (before?.status === "planned" || isCutShort) && before.attempt === attempt;
      this.#must("I3", wasPlanned, `attempt ${epoch}.${attempt} was decided, and was not planned`);
      this.#must("I1", isDeepStrictEqual(before?.plan, row.plan), "a decision changed the plan");
      const goesBack = (decision.watermark ?? -Infinity) < (row.plan.watermark ?? -Infinity);
      this.#must("I1", !goesBack, `the watermark goes back in epoch ${epoch}`);
      const expected = row.attemptPlan.fused ? 1 : row.attemptPlan.tasks.reduce((sum, count) => sum + count, 0);
      this.#must(
        "I3",
        isCutShort || acks.length === expected,
        `epoch ${epoch} is decided with ${acks.length} acks of ${expected}`,
      );
    }
    for (const object of objectsOf(row))
      this.#must("I5", this.#outside.objectExists(object), `epoch ${epoch} is decided, and ${object} is not there`);
    this.#outside.decided(row, acks);
  }

  #decidedRow(before: DecidedEpoch, after: EpochRow): void {
    const settled = ({ committedAt: _, dropped: __, pins: ___, commitFailure: ____, ...rest }: DecidedEpoch) => rest;
    const isSame = after.status === "decided" && isDeepStrictEqual(settled(before), settled(after));
    this.#must("I1", isSame, `what was decided for epoch ${before.epoch} has changed`);
    if (after.status === "decided" && before.dropped) this.#must("I5", after.dropped, "a dropped checkpoint came back");
  }

  #ack(key: string, before: unknown, after: unknown): void {
    const { epoch, attempt } = numbersOf(key);
    const row = this.#items.item<EpochRow>(epochOf(key));
    if (before === undefined) {
      const isPlanned = row?.status === "planned" && row.attempt === attempt;
      this.#must("I2", isPlanned, `an ack of ${epoch}.${attempt}, which is not planned`);
      this.#outside.acked(after as Ack);
      return;
    }
    if (after !== undefined) {
      const { published: _, ...rest } = after as Ack;
      this.#must("I3", isDeepStrictEqual(before, rest), "an ack changed");
      return;
    }
    const isOld = (this.#items.item<Head>("HEAD")?.committed ?? 0) >= epoch || attempt < (row?.attempt ?? 0);
    this.#must("I5", isOld, `an ack of ${epoch}.${attempt} was deleted, and may still count`);
  }

  #unit(key: string, before: Unit | undefined, after: Unit | undefined): void {
    const { epoch, attempt } = numbersOf(key);
    if (!after) {
      const isOld = (this.#items.item<Head>("HEAD")?.committed ?? 0) >= epoch;
      this.#must("I5", isOld, `a unit of epoch ${epoch} was deleted, and is not committed`);
      return;
    }
    if (!before) {
      const row = this.#items.item<EpochRow>(epochOf(key));
      const isDecided = row?.status === "decided" && row.attempt === attempt && after.status === "prepared";
      this.#must("I3", isDecided, `a unit of ${epoch}.${attempt}, which is not decided`);
      this.#must("I5", this.#outside.isReadable(epoch, after), `a unit of ${epoch}.${attempt} names what is gone`);
      return;
    }
    // What was abandoned may turn out to have been committed.
    const isAllowed = before.status === "prepared" || (before.status === "abandoned" && after.status === "committed");
    this.#must("I4", isAllowed, `a unit of epoch ${epoch} was ${before.status}, and is ${after.status}`);
    if (after.status === "committed") this.#mustBeVisible(epoch, after);
    else this.#outside.abandoned(epoch, after);
  }

  #mustBeVisible(epoch: number, unit: Unit): void {
    const isVisible = this.#outside.isVisible(epoch, unit);
    this.#must("I4", isVisible, `${unit.sink}/${unit.key} of epoch ${epoch} counts as committed, and is not visible`);
  }

  #must(invariant: string, holds: boolean, message: string): void {
    if (!holds) this.#outside.violated(invariant, message);
  }
}

export const epochKey = (epoch: number): string => `EPOCH#${String(epoch).padStart(12, "0")}`;

/** All objects that a decided epoch's checkpoint names. */
export function objectsOf({ decision }: DecidedEpoch): string[] {
  return Object.values(decision.checkpoint.stages).flatMap((runs) => runs.flatMap((run) => run.objects));
}
