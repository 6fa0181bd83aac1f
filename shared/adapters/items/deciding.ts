import type { DecidedEpoch, EpochRow } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { EpochId, Ledger } from "../../ports/ledger.ts";
import { assertCountsUnits, assertReadAsPlanned } from "./assertions.ts";
import { isAsSeen, isDecidedAt, isFullyCommitted, isNextToDecide, isPlannedAt } from "./conditions.ts";
import { endOf, type Items } from "./item-store.ts";
import { acksPrefix, epochKey, existing, headKey, unitKey } from "./layout.ts";
import { move } from "./moving.ts";
import { lastDecision } from "./planning.ts";

type DecideWrite = Parameters<Ledger["decide"]>[1];
type RestoreWrite = Parameters<Ledger["restore"]>[0];

/** planned → decided, HEAD n-1 → n, in one transaction (I3). */
export function decide(items: Items, id: EpochId, { decision, units, ackCount }: DecideWrite) {
  const { epoch, attempt } = id;
  const row = items.get(epochKey(epoch));
  if (isDecidedAt(row, attempt) && row.decision.token === decision.token) return "decided";
  if (!isPlannedAt(row, attempt)) return "fenced";
  const prefix = acksPrefix(id);
  if (items.keys(prefix, endOf(prefix)).length !== ackCount) return "incomplete";
  const head = existing(items, headKey);
  invariant(
    "I3",
    isNextToDecide(head, epoch),
    `epoch ${epoch} is planned, but ${head.decided} is the last decided one`,
    id,
  );
  const before = lastDecision(items, epoch);
  assertReadAsPlanned(row, decision, before?.partitions ?? []);
  assertCountsUnits(epoch, decision, units, before);

  move(items, "decide", row, { ...row, ...decidedNow, decision });
  items.update(headKey, { ...head, decided: epoch });
  for (const [position, unit] of units.entries())
    items.insert(unitKey(id, unit), { ...unit, status: "prepared", position });
  return "decided";
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
