import type { CommitUnit, PreparedTask, UnitDecision } from "../../../ports/sink.ts";
import { invalidHandle } from "./errors.ts";
import { isLaneKey, laneKey } from "./lane-names.ts";
import { checkRange, type OwnOutput, type PreparedOutput, type StagedRange } from "./staged-output.ts";

/** One lane's part of an epoch: one transaction. */
export type LaneUnit = {
  /** Digest of the decision; beside the marker it says whose epoch is there. */
  readonly token: string;
  /** The last epoch before in which the lane had output. */
  readonly previous: number | null;
  /** In the order of stages and tasks. */
  readonly staged: readonly StagedRange[];
};

export function laneUnits(
  prepared: readonly PreparedTask<PreparedOutput>[],
  { token, previous }: UnitDecision,
): CommitUnit<LaneUnit>[] {
  const parts = prepared.flatMap(({ handle }) => handle.lanes);
  const byLane = Map.groupBy(parts, ({ lane }) => lane);
  return [...byLane]
    .sort(([one], [other]) => one - other)
    .map(([lane, ranges]) => {
      const key = laneKey(lane);
      return { key, unit: { token, previous: previous(key), staged: ranges.map(({ range }) => range) } };
    });
}

/** @throws LossError as `checkRange` does */
export function checkUnit(place: OwnOutput, key: string, unit: LaneUnit, topic: string | undefined): LaneUnit {
  const { token, previous, staged } = unit ?? {};
  const isUnit =
    isLaneKey(key) &&
    typeof token === "string" &&
    (previous === null || (Number.isSafeInteger(previous) && previous < place.epoch)) &&
    Array.isArray(staged);
  if (!isUnit) throw invalidHandle(place, "a lane is not described as one");
  for (const range of staged) checkRange(place, range, topic);
  return unit;
}
