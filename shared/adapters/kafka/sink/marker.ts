import type { LossError } from "../../../errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CommitLedger } from "../../../ports/sink.ts";
import type { GroupOffset } from "../client.ts";
import { ledgerOlder, type OutputPlace, unknownMarker } from "./errors.ts";
import type { LaneUnit } from "./lanes.ts";

/** How long a marker that nobody renews is sure to be kept by the brokers. */
export interface MarkerLimits {
  /** An epoch that was decided longer ago may have been committed, and its marker have expired since. */
  readonly mostAgeMs: number;
  /** A marker of an epoch that was decided longer ago may have expired. */
  readonly leastExpiryMs: number;
}

/** A day and six days of the default retention of seven. */
export const markerLimits = (retentionMinutes: number): MarkerLimits => ({
  mostAgeMs: (retentionMinutes * 60_000) / 7,
  leastExpiryMs: (retentionMinutes * 60_000 * 6) / 7,
});

export interface MarkerQuestion {
  readonly place: OutputPlace;
  readonly group: string;
  readonly topic: string;
  readonly unit: LaneUnit;
  /** Read after every earlier producer of the lane was fenced. */
  readonly marker: GroupOffset | undefined;
  /** Asked after the marker was read. */
  readonly ledger: CommitLedger;
  readonly clock: Clock;
  readonly limits: (sink: string) => Promise<MarkerLimits>;
  /** Id that the marker's topic has now; undefined: there is none. */
  readonly topicId: () => Promise<string | undefined>;
}

/**
 * The table of protocol §9: what the lane's marker says of an epoch that the ledger holds for uncommitted. `committed`: nothing is left to do;
 * `expected`: the lane is where the epoch before left it, or the user has abandoned that.
 *
 * @returns a LossError for what cannot be known; a zombie may get one too
 */
export async function judgeMarker(question: MarkerQuestion): Promise<"committed" | "expected" | LossError> {
  const { place, group, topic, unit, marker, ledger } = question;
  if (marker?.offset === place.epoch && marker.metadata === unit.token) return "committed";
  if (marker && marker.offset > place.epoch)
    return (await ledger.committed()) >= place.epoch ? "committed" : ledgerOlder(place, group, marker.offset);
  const { candidates, ...before } = await possibleMarkers(unit.previous, ledger);
  const candidate = marker && candidates.get(marker.offset);
  if (candidate) {
    await recover(marker, candidate, ledger);
    return "expected";
  }
  if (!marker && (await mayBeAbsent(question, before))) return "expected";
  const found = marker ? `${marker.offset}${marker.offset === place.epoch ? " of another decision" : ""}` : "absent";
  return unknownMarker(place, group, topic, found, [...candidates.keys()].join(" or ") || "absent");
}

/** An epoch whose marker may be there. */
interface Candidate {
  /** Of one that was abandoned: beside its own marker. */
  readonly abandonedToken: string | undefined;
}

/** An epoch that was abandoned, and whose own marker is there, is not lost. Once the next epoch's is in its place nobody can tell any more. */
async function recover({ offset, metadata }: GroupOffset, { abandonedToken }: Candidate, ledger: CommitLedger) {
  if (abandonedToken === metadata) await ledger.recover(offset);
}

/** The last epoch that the lane has committed, and later ones that were abandoned: their commit may have come through before. */
async function possibleMarkers(previous: number | null, ledger: CommitLedger) {
  const candidates = new Map<number, Candidate>();
  let abandonedBefore: number | null = null;
  for (let epoch = previous; epoch !== null; ) {
    const row = await ledger.unit(epoch);
    const abandoned = row?.status === "abandoned" ? ((row.unit ?? {}) as Partial<LaneUnit>) : undefined;
    candidates.set(epoch, { abandonedToken: abandoned?.token });
    if (abandoned === undefined) return { candidates, last: epoch, abandonedBefore };
    abandonedBefore = epoch;
    epoch = previousOf(epoch, abandoned);
  }
  return { candidates, last: null, abandonedBefore };
}

function previousOf(epoch: number, { previous = null }: Partial<LaneUnit>): number | null {
  return previous !== null && previous < epoch ? previous : null;
}

/**
 * The topic was made anew, and the marker went with the old one. So did the rows of the epoch, if they were there at all: in the new one there is no epoch of the lane, or
 * its marker would be there, too.
 */
async function isAnew({ unit, ledger, topicId }: MarkerQuestion): Promise<boolean> {
  const { id } = unit.marker;
  if (id === null || unit.previous === null) return false;
  const before = (await ledger.unit(unit.previous))?.unit as Partial<LaneUnit> | undefined;
  const idBefore = before?.marker?.id ?? id;
  return idBefore !== id || (await topicId()) !== id;
}

/** The first epoch of a lane, the first after so long that its marker has expired, or the first in a topic that was made anew; but not so late that its own may have expired. */
async function mayBeAbsent(
  question: MarkerQuestion,
  { last, abandonedBefore }: { last: number | null; abandonedBefore: number | null },
): Promise<boolean> {
  const { place, ledger, limits, clock } = question;
  const { mostAgeMs, leastExpiryMs } = await limits(place.sink);
  const ageMs = async (epoch: number | null) => {
    const decidedAt = epoch === null ? undefined : await ledger.decidedAt(epoch);
    return decidedAt === undefined ? undefined : clock.now() - decidedAt;
  };
  if (((await ageMs(place.epoch)) ?? Number.POSITIVE_INFINITY) > mostAgeMs) return false;
  if (last === null) return true;
  // The ledger keeps the epoch that a key had output in last, and abandoned ones. What was before these may be collected, and is at least as old.
  const ageBeforeMs = (await ageMs(last)) ?? (await ageMs(abandonedBefore)) ?? 0;
  return ageBeforeMs > leastExpiryMs || (await isAnew(question));
}
