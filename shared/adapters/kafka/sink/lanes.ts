import type { CommitUnit, PreparedTask, UnitDecision } from "../../../ports/sink.ts";
import { invalidHandle, otherTopic } from "./errors.ts";
import { isLaneKey, laneKey } from "./lane-names.ts";
import {
  checkRange,
  type MarkerPlace,
  type OwnOutput,
  type PreparedOutput,
  type StagedRange,
} from "./staged-output.ts";

/** One lane's part of an epoch: one transaction. */
export type LaneUnit = {
  /** Digest of the decision; beside the marker it says whose epoch is there. */
  readonly token: string;
  /** The last epoch before in which the lane had output. */
  readonly previous: number | null;
  readonly marker: MarkerPlace;
  /** In the order of stages and tasks. */
  readonly staged: readonly StagedRange[];
};

export function laneUnits(
  prepared: readonly PreparedTask<PreparedOutput>[],
  { token, previous }: UnitDecision,
): CommitUnit<LaneUnit>[] {
  const parts = prepared.flatMap(({ handle }) => handle.lanes);
  const marker = markerOf(prepared.map(({ handle }) => handle.marker));
  const byLane = Map.groupBy(parts, ({ lane }) => lane);
  return [...byLane]
    .sort(([one], [other]) => one - other)
    .map(([lane, ranges]) => {
      const key = laneKey(lane);
      return { key, unit: { token, previous: previous(key), marker, staged: ranges.map(({ range }) => range) } };
    });
}

/** A topic that was made anew between two tasks has no id that holds for all. */
function markerOf([first, ...others]: readonly MarkerPlace[]): MarkerPlace {
  const { topic, id } = first!;
  return { topic, id: others.every((one) => one.id === id) ? id : null };
}

/**
 * @param topic the sink's, where that is fixed
 * @throws LossError as `checkRange` does; `kafka-other-topic` where the marker is elsewhere, and so would say nothing
 */
export function checkUnit(
  place: OwnOutput,
  key: string,
  unit: LaneUnit,
  topic: string | undefined,
  markerTopic: string,
): LaneUnit {
  const { token, previous, staged, marker } = unit ?? {};
  const isUnit =
    isLaneKey(key) &&
    typeof token === "string" &&
    (previous === null || (Number.isSafeInteger(previous) && previous < place.epoch)) &&
    Array.isArray(staged) &&
    typeof marker?.topic === "string" &&
    (marker.id === null || typeof marker.id === "string");
  if (!isUnit) throw invalidHandle(place, "a lane is not described as one");
  if (marker.topic !== markerTopic) throw otherTopic(place, marker.topic, markerTopic);
  for (const range of staged) checkRange(place, range, topic);
  return unit;
}
