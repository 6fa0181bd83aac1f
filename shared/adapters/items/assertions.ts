/** What no caller may ask of a ledger, asserted by the invariants' names before anything is written. */
import { isDeepStrictEqual } from "node:util";
import type { Decision, EpochPlan, EpochRow, PartitionState, PlannedPartition, Unit } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";

/** I1: ranges go on where the last decided epoch ended. A partition that it did not know starts anywhere. */
export function assertContinues(epoch: number, plan: EpochPlan, before: readonly PartitionState[]): void {
  const known = new Map(before.map((one) => [one.id, one]));
  invariant(
    "I1",
    new Set(plan.partitions.map((one) => one.id)).size === plan.partitions.length,
    "a partition is planned twice",
    { epoch },
  );
  for (const one of plan.partitions) {
    const position = known.get(one.id)?.position ?? one.from;
    const place = { epoch, partition: one.id, offset: one.from };
    invariant(
      "I1",
      one.from === position,
      `the range starts at ${one.from}, but epoch ${epoch - 1} ended at ${position}`,
      place,
    );
    const edges = [one.from, ...one.cuts, one.to];
    const ascending = edges.every((edge, index) => index === 0 || edge > edges[index - 1]!);
    invariant(
      "I1",
      ascending || (one.to === one.from && one.cuts.length === 0),
      () => `no range: ${edges.join(", ")}`,
      place,
    );
  }
}

/** I1: a new attempt has the plan of the one before, or a smaller one after a failure that asked for it. */
export function assertSamePlan(row: EpochRow, plan: EpochPlan): void {
  const { bytes: _, partitions: before, ...fixed } = row.plan;
  // As it will be read back: without what JSON does not keep.
  const { bytes: __, partitions: after, ...given }: EpochPlan = JSON.parse(JSON.stringify(plan));
  const place = { epoch: row.epoch, attempt: row.attempt };
  invariant("I1", isDeepStrictEqual(fixed, given), "a new attempt has another watermark or time", place);
  if (isDeepStrictEqual(before, after)) return;
  invariant(
    "I1",
    row.failure?.shrink === true,
    "a new attempt has other ranges, and nobody ran out of time or memory",
    place,
  );
  invariant("I1", areCutShort(before, after), "a new attempt may have smaller ranges, and no other change", place);
}

function areCutShort(before: readonly PlannedPartition[], after: readonly PlannedPartition[]): boolean {
  return before.length === after.length && before.every((one, index) => isSameOrCutShort(one, after[index]!));
}

function isSameOrCutShort(one: PlannedPartition, next: PlannedPartition): boolean {
  if (isDeepStrictEqual(one, next)) return true;
  const { to, cuts: _, ...rest } = one;
  const { to: nextTo, cuts: __, ...nextRest } = next;
  return nextTo < to && isDeepStrictEqual(rest, nextRest);
}

/** I1: a decision has read what was planned, and forgets no partition. */
export function assertReadAsPlanned(row: EpochRow, decision: Decision, before: readonly PartitionState[]): void {
  const after = new Map(decision.partitions.map((one) => [one.id, one.position]));
  const expected = new Map([
    ...before.map((one) => [one.id, one.position] as const),
    ...row.plan.partitions.map((one) => [one.id, one.to] as const),
  ]);
  for (const [id, position] of expected) {
    const place = { epoch: row.epoch, attempt: row.attempt, partition: id };
    invariant(
      "I1",
      after.get(id) === position,
      () => `decided at ${after.get(id) ?? "no position"}, planned up to ${position}`,
      place,
    );
  }
}

/** I4: a decision counts its units, and `previous` tells each the last output before it, of whichever epoch. */
export function assertCountsUnits(
  epoch: number,
  decision: Decision,
  units: readonly Omit<Unit, "status">[],
  before: Decision | undefined,
): void {
  const names = new Set(units.map((one) => `${one.sink}/${one.key}`));
  invariant(
    "I4",
    names.size === units.length && decision.unitCount === units.length,
    `${decision.unitCount} units are decided, ${names.size} are given`,
    { epoch },
  );
  invariant(
    "I4",
    isDeepStrictEqual(new Set(decision.sinks), new Set(units.map((one) => one.sink))),
    "the decision's sinks are not those of its units",
    { epoch },
  );
  for (const name of names)
    invariant(
      "I4",
      decision.previous[name] === epoch,
      () => `"previous" of ${name} is not this epoch, in which it has output`,
      { epoch },
    );
  for (const [name, last] of Object.entries(before?.previous ?? {})) {
    const kept = names.has(name) || decision.previous[name] === last;
    invariant("I4", kept, () => `"previous" of ${name} was ${last}, and is not carried forward`, { epoch });
  }
}
