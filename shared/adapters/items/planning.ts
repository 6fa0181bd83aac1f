import type { Decision, EpochRow, FailedAttempt, PlannedEpoch } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { Ledger } from "../../ports/ledger.ts";
import { assertContinues, assertSamePlan } from "./assertions.ts";
import { isAsSeen, isDecided, isNextToDecide, isRunning, ownsLease } from "./conditions.ts";
import type { ItemReader, Items } from "./item-store.ts";
import { epochKey, existing, headKey, wakeKey } from "./layout.ts";
import { move } from "./moving.ts";

type PlanWrite = Parameters<Ledger["plan"]>[0];
type PlanOutcome = Awaited<ReturnType<Ledger["plan"]>>;

/** (none), planned or fenced → planned, as the next attempt. */
export function plan(items: Items, write: PlanWrite): PlanOutcome {
  const head = existing(items, headKey);
  const wake = existing(items, wakeKey);
  const row = items.get(epochKey(write.epoch));
  if (!ownsLease(wake, write.owner)) return { outcome: "not-owner" };
  const unchanged = isNextToDecide(head, write.epoch) && isRunning(head) && isAsSeen(row, write.seen);
  if (!unchanged) return { outcome: "changed" };
  assertContinues(write.epoch, write.plan, lastDecision(items, write.epoch)?.partitions ?? []);
  if (row) assertSamePlan(row, write.plan);

  const planned = nextAttempt(row, write);
  move(items, "plan", row, planned);
  if (write.events !== 0) items.update(wakeKey, { ...wake, events: wake.events + write.events });
  return { outcome: "planned", attempt: planned.attempt };
}

/** Failed attempts that a row remembers: an epoch may fail for days. */
const mostEarlier = 5;

/** A failure that was noted counts even if nobody came to fence its attempt. */
function nextAttempt(row: EpochRow | undefined, { epoch, plan, attemptPlan, now }: PlanWrite): PlannedEpoch {
  const unfenced = row?.status === "planned" && row.failure !== null ? 1 : 0;
  return {
    status: "planned",
    epoch,
    attempt: (row?.attempt ?? 0) + 1,
    plan,
    attemptPlan,
    plannedAt: now,
    failures: (row?.failures ?? 0) + unfenced,
    failure: null,
    ...earlierAttempts(row, now),
  };
}

function earlierAttempts(row: EpochRow | undefined, now: number): Pick<EpochRow, "earlier"> {
  if (!row?.failure) return row?.earlier ? { earlier: row.earlier } : {};
  const { attempt, plannedAt, failure, earlier = [] } = row;
  const last: FailedAttempt = { attempt, plannedAt, replacedAt: now, error: failure.error };
  return { earlier: [...earlier, last].slice(-mostEarlier) };
}

/** The decision that an epoch goes on from; undefined for the first. */
export function lastDecision(items: ItemReader, epoch: number): Decision | undefined {
  if (epoch === 1) return undefined;
  const before = existing(items, epochKey(epoch - 1));
  invariant("I3", isDecided(before), "the epoch before is not decided", { epoch });
  return before.decision;
}
