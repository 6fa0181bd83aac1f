/** What no caller may ask of a ledger, asserted by the invariants' names before anything is written. */
import { isDeepStrictEqual } from "node:util";
import type { Decision, EpochPlan, EpochRow, PartitionState, PlannedPartition, Unit } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";

/** I1: ranges go on where the last decided epoch ended. A partition that it did not know starts anywhere. */
export function assertContinues(epoch: number, plan: EpochPlan, before: readonly PartitionState[]): void {
  const positions = new Map(before.map((one) => [one.id, one.position]));
  const ids = new Set(plan.partitions.map((one) => one.id));
  invariant("I1", ids.size === plan.partitions.length, "a partition is planned twice", { epoch });
  for (const one of plan.partitions) {
    const place = { epoch, partition: one.id, offset: one.from };
    const position = positions.get(one.id) ?? one.from;
    invariant("I1", one.from === position, `${one.id} starts at ${one.from}, after ${position} was reached`, place);
    invariant("I1", ascends(one), `the sub-ranges of ${one.id} do not ascend`, place);
  }
}

function ascends({ from, cuts, to }: PlannedPartition): boolean {
  const edges = [from, ...cuts, to];
  return (from === to && cuts.length === 0) || edges.every((edge, index) => index === 0 || edge > edges[index - 1]!);
}

/** I1: a new attempt has the plan of the one before, or a smaller one after a failure that asked for it. */
export function assertSamePlan(row: EpochRow, plan: EpochPlan): void {
  const { bytes: _, partitions: before, ...fixed } = row.plan;
  // As it will be read back: without what JSON does not keep.
  const { bytes: __, partitions: after, ...given }: EpochPlan = JSON.parse(JSON.stringify(plan));
  const place = { epoch: row.epoch, attempt: row.attempt };
  invariant("I1", isDeepStrictEqual(fixed, given), "a new attempt has another watermark or time", place);
  if (isDeepStrictEqual(before, after)) return;
  const mayShrink = row.failure?.shrink === true;
  invariant("I1", mayShrink, "a new attempt has other ranges, and none ran out of time or memory", place);
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

/** I1: a decision has read what was planned, and forgets no partition but those that the plan does. */
export function assertReadAsPlanned(row: EpochRow, decision: Decision, before: readonly PartitionState[]): void {
  const after = new Map(decision.partitions.map((one) => [one.id, one.position]));
  const forgotten = new Set(row.plan.forgotten);
  const kept = before.filter(({ id }) => !forgotten.has(id));
  const expected = new Map([
    ...kept.map((one) => [one.id, one.position] as const),
    ...row.plan.partitions.map((one) => [one.id, one.to] as const),
  ]);
  for (const [id, position] of expected) {
    const reached = after.get(id);
    const place = { epoch: row.epoch, attempt: row.attempt, partition: id };
    invariant("I1", reached === position, () => `${id} is decided at ${reached}, and planned up to ${position}`, place);
  }
}

/** I4: a decision counts its units, and its `previous` tells every unit key the last epoch in which it had output. */
export function assertCountsUnits(
  epoch: number,
  decision: Decision,
  units: readonly Omit<Unit, "status">[],
  before: Decision | undefined,
): void {
  const { unitCount, previous } = decision;
  const names = new Set(units.map((one) => `${one.sink}/${one.key}`));
  const sinks = new Set(units.map((one) => one.sink));
  const areCounted = names.size === units.length && unitCount === units.length;
  invariant("I4", areCounted, `${unitCount} units are decided, ${names.size} are given`, { epoch });
  invariant("I4", isDeepStrictEqual(new Set(decision.sinks), sinks), "its sinks are not those of its units", { epoch });
  const expected = { ...before?.previous, ...Object.fromEntries([...names].map((name) => [name, epoch])) };
  for (const [name, last] of Object.entries(expected))
    invariant("I4", previous[name] === last, () => `"previous" of ${name} is ${previous[name]}, not ${last}`, {
      epoch,
    });
}
