import type { DecidedEpoch, EpochRow, FencedEpoch, PlannedEpoch } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { DecisionWrite, EpochId, Ledger } from "../../ports/ledger.ts";
import { assertCountsUnits, assertReadAsPlanned } from "./assertions.ts";
import { isAsSeen, isDecidedAt, isFencedAt, isFullyCommitted, isNextToDecide, isPlannedAt } from "./conditions.ts";
import { endOf, type Items } from "./item-store.ts";
import { acksPrefix, epochKey, existing, headKey, unitKey } from "./layout.ts";
import { move } from "./moving.ts";
import { lastDecision } from "./planning.ts";

type RestoreWrite = Parameters<Ledger["restore"]>[0];

/** planned → decided, HEAD n-1 → n, in one transaction (I3). */
export function decide(items: Items, id: EpochId, write: DecisionWrite): "decided" | "fenced" | "incomplete" {
  const row = items.get(epochKey(id.epoch));
  if (isDecisionOf(row, id, write)) return "decided";
  if (!isPlannedAt(row, id.attempt)) return "fenced";
  if (!hasAcks(items, id, write.ackCount)) return "incomplete";
  settle(items, "decide", row, write);
  return "decided";
}

/** fenced → decided, by the acks that were in time. Their number is settled: none comes any more. */
export function lose(items: Items, id: EpochId, write: DecisionWrite): "decided" | "changed" {
  const row = items.get(epochKey(id.epoch));
  if (isDecisionOf(row, id, write)) return "decided";
  if (!isFencedAt(row, id.attempt) || !hasAcks(items, id, write.ackCount)) return "changed";
  settle(items, "lose", row, write);
  return "decided";
}

const isDecisionOf = (row: EpochRow | undefined, { attempt }: EpochId, { decision }: DecisionWrite): boolean =>
  isDecidedAt(row, attempt) && row.decision.token === decision.token;

function hasAcks(items: Items, id: EpochId, count: number): boolean {
  const prefix = acksPrefix(id);
  return items.keys(prefix, endOf(prefix)).length === count;
}

function settle(items: Items, by: "decide" | "lose", row: PlannedEpoch | FencedEpoch, write: DecisionWrite): void {
  const { decision, units, committed = false } = write;
  const { epoch, attempt } = row;
  const id = { epoch, attempt };
  const head = existing(items, headKey);
  invariant(
    "I3",
    isNextToDecide(head, epoch),
    `epoch ${epoch} is not decided, but ${head.decided} is the last decided one`,
    id,
  );
  const before = lastDecision(items, epoch);
  assertReadAsPlanned(row, decision, before?.partitions ?? []);
  assertCountsUnits(epoch, decision, units, before);
  const mayBeCommitted = !committed || (isFullyCommitted(head) && units.length === 0);
  invariant("I4", mayBeCommitted, "an epoch is committed with its decision, and something waits for a commit", id);

  const committedAt = committed ? decision.decidedAt : null;
  move(items, by, row, { ...row, ...decidedNow, committedAt, decision });
  items.update(headKey, { ...head, decided: epoch, ...(committed && { committed: epoch }) });
  for (const [position, unit] of units.entries())
    items.insert(unitKey(id, unit), { ...unit, status: "prepared", position });
}

const decidedNow = { status: "decided", commitFailure: null, committedAt: null, dropped: false, pins: [] } as const;

/**
 * One more epoch, decided from any undecided row as its next attempt, whose plan it replaces (the one exception in I1). It has no output, so it
 * is committed with its decision. The same restore made again is told that it is decided.
 */
export function restore(items: Items, write: RestoreWrite): "decided" | "changed" {
  const { epoch, decision, plan, attemptPlan, fingerprint, now } = write;
  const head = existing(items, headKey);
  const row = items.get(epochKey(epoch));
  if (isRestoreOf(row, write)) return "decided";
  const unchanged = isNextToDecide(head, epoch) && isFullyCommitted(head) && isAsSeen(row, write.seen);
  if (!unchanged) return "changed";
  assertCountsUnits(epoch, decision, [], lastDecision(items, epoch));

  const attempt = (row?.attempt ?? 0) + 1;
  const base = { epoch, attempt, plan, attemptPlan, plannedAt: now, failures: 0, failure: null };
  const restored: DecidedEpoch = { ...base, ...decidedNow, decision, committedAt: now };
  move(items, "restore", row, restored);
  items.update(headKey, { ...head, decided: epoch, committed: epoch, fingerprint });
  return "decided";
}

function isRestoreOf(row: EpochRow | undefined, { seen, decision }: RestoreWrite): boolean {
  return isDecidedAt(row, (seen ?? 0) + 1) && row.decision.kind === "restore" && row.decision.token === decision.token;
}
