import { UsageError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";
import { digest } from "./digest.ts";
import type { Decision, EpochRow } from "./epoch.ts";
import { decidedIn } from "./epoch.ts";

interface Restorer {
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/**
 * Begins anew: all input is read again, with empty state. It is one more epoch (protocol §5), since numbers never go back: no sink mistakes new output for old.
 * What was committed stays.
 *
 * @param fingerprint of the topology that goes on from here: the pipeline may be another one
 */
export async function resetPipeline(restorer: Restorer, fingerprint: string): Promise<{ epoch: number }> {
  return await decideRestore(restorer, fingerprint, (previous) => ({
    checkpoint: { stages: {} },
    partitions: [],
    watermark: null,
    nextFire: null,
    openUntil: null,
    previous,
  }));
}

/** Goes back to a retained checkpoint: its state and positions, in a new epoch. The checkpoint is pinned while it is decided. */
export async function restoreCheckpoint(restorer: Restorer, epoch: number, pin: string): Promise<{ epoch: number }> {
  const { ledger } = restorer;
  const pinned = await ledger.pin(epoch, pin);
  if (pinned !== "pinned")
    throw new UsageError("not-retained", `checkpoint ${epoch} is ${pinned}`, {
      wayOut: "`epochflow epochs` lists what is retained",
    });
  try {
    const row = await ledger.epoch(epoch);
    const head = await ledger.head();
    if (row?.status !== "decided" || !head) throw new UsageError("not-decided", `epoch ${epoch} is not decided`);
    const { checkpoint, partitions, watermark, nextFire, openUntil } = row.decision;
    return await decideRestore(restorer, head.fingerprint, (previous) => ({
      checkpoint,
      partitions,
      watermark,
      nextFire,
      openUntil,
      previous,
    }));
  } finally {
    await ledger.unpin(epoch, pin);
  }
}

type Restored = Pick<Decision, "checkpoint" | "partitions" | "watermark" | "nextFire" | "openUntil" | "previous">;

async function decideRestore(
  { ledger, clock }: Restorer,
  fingerprint: string,
  restored: (previous: Decision["previous"]) => Restored,
) {
  for (;;) {
    const head = await ledger.head();
    if (!head) throw new UsageError("never-run", "there is nothing to restore: this pipeline has never run");
    if (head.committed < head.decided)
      throw new UsageError("uncommitted", `epoch ${head.decided} is decided and not committed`, {
        wayOut: "run the pipeline until it is committed, or `epochflow abandon` it",
      });
    const epoch = head.decided + 1;
    const [last, row]: (EpochRow | undefined)[] = await Promise.all([ledger.epoch(head.decided), ledger.epoch(epoch)]);
    const before = decidedIn(last);
    const fixed = restored(before?.previous ?? {});
    const now = clock.now();
    const decision: Decision = {
      ...fixed,
      kind: "restore",
      counts: { records: 0, bytes: 0, skipped: 0, deadLettered: 0, late: 0, rows: {} },
      token: digest({ epoch, restore: fixed }),
      unitCount: 0,
      sinks: [],
      decidedAt: now,
      ...(before?.lostSoFar && { lostSoFar: before.lostSoFar }),
    };
    const plan = {
      bytes: 0,
      partitions: [],
      watermark: fixed.watermark,
      advanceTo: null,
      processingTime: Math.max(now, last?.plan.processingTime ?? 0),
    };
    const attemptPlan = { codeDigest: "", tasks: [], fused: false };
    const outcome = await ledger.restore({
      epoch,
      seen: row ? row.attempt : null,
      decision,
      plan,
      attemptPlan,
      fingerprint,
      now,
    });
    if (outcome === "decided") return { epoch };
  }
}
