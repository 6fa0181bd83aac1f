import type { EpochPlan, PlannedPartition } from "./epoch.ts";

/**
 * W(n) (protocol §7): the minimum over the partitions that are not idle of (largest event time so far - outOfOrder); if all are idle, the maximum over the
 * partitions; never before W(n-1) or `advanceTo`. A partition that is not idle and has never had a record holds it back.
 *
 * @param maxEventTimes largest event time that this epoch read, by partition
 * @returns epoch milliseconds, or null while there is none
 */
export function watermarkAfter(
  plan: EpochPlan,
  maxEventTimes: ReadonlyMap<string, number>,
  outOfOrderMs: number,
): number | null {
  const times = plan.partitions.map((one) => ({
    idle: one.idle,
    time: largest(one.maxEventTime, maxEventTimes.get(one.id)),
  }));
  const active = times.filter((one) => !one.idle);
  const reached = active.length > 0 ? least(active.map((one) => one.time)) : largest(...times.map((one) => one.time));
  return largest(plan.watermark, plan.advanceTo, reached === null ? null : reached - outOfOrderMs);
}

/** Largest event time of a partition after the epoch. */
export function maxEventTimeAfter(
  planned: PlannedPartition,
  maxEventTimes: ReadonlyMap<string, number>,
): number | null {
  return largest(planned.maxEventTime, maxEventTimes.get(planned.id));
}

function largest(...times: (number | null | undefined)[]): number | null {
  const known = times.filter((one) => one !== null && one !== undefined);
  return known.length === 0 ? null : known.reduce((one, other) => Math.max(one, other));
}

/** Null, "never", is less than any time. */
function least(times: (number | null)[]): number | null {
  return times.reduce((one, other) => (one === null || other === null ? null : Math.min(one, other)));
}
