import type { CutLimit, PartitionStatus, Source } from "../ports/source.ts";
import { type Engine, sourceOf } from "./engine.ts";
import type { Decision, EpochPlan, EpochRow, PartitionState, PlannedPartition } from "./epoch.ts";
import { decidedIn } from "./epoch.ts";
import { epochLimit, type Policy } from "./policy.ts";
import { watermarkAfter } from "./watermark.ts";

/** Sub-ranges are at least this large, and at most so many an epoch: each costs a merge of its own. */
const leastPieceBytes = 1 << 20;
const mostPieces = 16;

/** The plan of a new epoch (I1: each range starts where the last decided one ended), or that there is nothing to do, or nothing yet. */
export async function newPlan(
  engine: Engine,
  last: EpochRow | undefined,
): Promise<EpochPlan | "nothing" | { wait: number }> {
  const { source, policy, clock } = engine;
  const before = decidedIn(last);
  const known = new Map((before?.partitions ?? []).map((one) => [one.id, one]));
  const statuses = (await source.discover([...known.values()])).sort((one, other) => (one.id < other.id ? -1 : 1));
  // A clock that goes back must not take the plan's time with it.
  const now = Math.max(clock.now(), last?.plan.processingTime ?? 0);
  const open = statuses.map((status) => ({ status, at: known.get(status.id)?.position ?? status.start }));
  const taken = await take(source, open, epochLimit(policy, last));
  const pieceBytes = Math.max(leastPieceBytes, Math.ceil(taken.bytes / mostPieces));
  const watermark = before?.watermark ?? null;
  const partitions: PlannedPartition[] = [];
  const forgotten: string[] = [];
  for (const { status } of open) {
    const { id, identity, end, high } = status;
    const from = known.get(id)?.position ?? status.start;
    const to = taken.ends.get(id) ?? from;
    const range = { id, identity, from, to };
    const cuts = to > from && mayShare(engine) ? await source.split(range, pieceBytes) : [];
    const seen = end === to && high === to ? {} : { seen: { end, high } };
    const record = status.isRecord ? { isRecord: true as const } : {};
    const planned = { ...range, cuts, ...seen, ...record, ...idleness(engine, status, known.get(id), from, to, now) };
    if (!isForgotten(engine, status, planned, watermark)) partitions.push(planned);
    else if (known.has(id)) forgotten.push(id);
  }
  const left = forgotten.length > 0 ? { forgotten } : {};
  const draft = { bytes: taken.bytes, partitions, ...left, watermark, advanceTo: null, processingTime: now };
  if (hasMomentaryStart(statuses, known)) return draft;
  if (partitions.some((one) => one.to > one.from)) {
    const tookAll = open.every(({ status, at }) => (taken.ends.get(status.id) ?? at) >= status.end);
    const earlyMs = policy.bounded || !tookAll ? 0 : (last?.plannedAt ?? 0) + policy.paceMs - clock.now();
    return earlyMs > 0 ? { wait: earlyMs / 1000 } : draft;
  }
  return withoutInput(engine, draft, before, statuses);
}

/**
 * Metadata must not grow with all files that there ever were. A partition of which no more will come is left out, once this changes no watermark: it is idle, so it holds none back, and it
 * can raise none any more.
 */
function isForgotten(
  engine: Engine,
  { isOver, high }: PartitionStatus,
  { idle, to, maxEventTime }: PlannedPartition,
  watermark: number | null,
): boolean {
  if (!isOver || !idle || to < high) return false;
  return maxEventTime === null || (watermark !== null && maxEventTime - sourceOf(engine).outOfOrderMs <= watermark);
}

/** Rows of several tasks that are published side by side are in no order: then those of a partition are one task's. */
function mayShare({ topology: { guarantee, nodes, stages } }: Engine): boolean {
  const isOutput = (sink: string) => nodes.some(({ id }) => id === sink);
  return guarantee === "exactly-once" || !stages[0]!.sinks.some(isOutput);
}

/** Unless the ledger remembers where "latest" was, what comes next would be behind it when it is asked for again (I1, I8). */
function hasMomentaryStart(statuses: readonly PartitionStatus[], known: ReadonlyMap<string, unknown>): boolean {
  return statuses.some(({ id, momentary }) => momentary && !known.has(id));
}

/** No partition has anything to read: still, time may close windows, or something may be about to happen. */
function withoutInput(
  engine: Engine,
  draft: EpochPlan,
  before: Pick<Decision, "nextFire" | "openUntil" | "loss"> | undefined,
  statuses: readonly PartitionStatus[],
): EpochPlan | "nothing" | { wait: number } {
  const { policy } = engine;
  const nextFire = before?.nextFire ?? null;
  // A share that was lost has windows that should have fired.
  if (before?.loss?.shares.length && nextFire !== null && nextFire <= (draft.watermark ?? nextFire)) return draft;
  if (policy.bounded) {
    const openUntil = before?.openUntil ?? null;
    const closes = !policy.hold && openUntil !== null && (draft.watermark === null || openUntil > draft.watermark);
    // Not to infinity: later input goes on, and only records of the windows closed here are late (protocol §7).
    return closes ? { ...draft, advanceTo: openUntil } : "nothing";
  }
  const { outOfOrderMs, idleAfterMs } = sourceOf(engine);
  const reaches = (plan: EpochPlan) => {
    const time = watermarkAfter(plan, new Map(), outOfOrderMs);
    return nextFire !== null && time !== null && time >= nextFire;
  };
  if (reaches(draft)) return draft;
  if (statuses.some((one) => one.high > one.end)) return { wait: soonSeconds(policy) };
  const silent = draft.partitions.filter((one) => !one.idle);
  if (silent.length > 0 && reaches({ ...draft, partitions: draft.partitions.map((one) => ({ ...one, idle: true })) })) {
    const due = Math.min(...silent.map((one) => one.activeAt + idleAfterMs));
    return { wait: Math.max(1, Math.ceil((due - draft.processingTime) / 1000)) };
  }
  return "nothing";
}

/** Until another look at a partition of which more will become readable at any moment. */
const soonSeconds = ({ paceMs }: Policy): number => (paceMs > 0 ? Math.min(1, paceMs / 1000) : 1);

/** Whether a partition lets the watermark pass, and what later plans need to say so. */
function idleness(
  engine: Engine,
  status: PartitionStatus,
  known: PartitionState | undefined,
  from: number,
  to: number,
  now: number,
) {
  const activeAt = to > from || !known ? now : known.activeAt;
  const atEnd = to === from && from >= status.high;
  const idle = status.isRecord || (atEnd && (engine.policy.bounded || now - activeAt >= sourceOf(engine).idleAfterMs));
  return { idle, maxEventTime: known?.maxEventTime ?? null, activeAt };
}

/** Shares the limit evenly among the partitions that have something to read; what one does not need goes to the others. */
async function take(
  source: Source,
  partitions: readonly { readonly status: PartitionStatus; readonly at: number }[],
  limit: Required<CutLimit>,
): Promise<{ ends: Map<string, number>; bytes: number }> {
  const ends = new Map<string, number>();
  let { records, bytes } = limit;
  let taken = 0;
  let open = partitions.filter((one) => one.at < one.status.end);
  while (open.length > 0 && records > 0 && bytes > 0) {
    const share = {
      records: Math.max(1, Math.floor(records / open.length)),
      bytes: Math.max(1, Math.floor(bytes / open.length)),
    };
    const rest: typeof open = [];
    for (const { status, at } of open) {
      if (records <= 0 || bytes <= 0) break;
      const range = { id: status.id, identity: status.identity, from: at, to: status.end };
      const cut = await source.cut(range, finite({ records: Math.min(share.records, records), bytes: share.bytes }));
      ends.set(status.id, cut.to);
      records -= cut.records ?? 0;
      bytes -= cut.bytes;
      taken += cut.bytes;
      if (cut.to < status.end) rest.push({ status, at: cut.to });
    }
    open = rest;
  }
  return { ends, bytes: taken };
}

function finite(limit: Required<CutLimit>): CutLimit {
  return Object.fromEntries(Object.entries(limit).filter(([, value]) => Number.isFinite(value)));
}

/** After a time-out or an out-of-memory: about half of every range, at least one record. */
export async function smallerPlan(source: Source, plan: EpochPlan): Promise<EpochPlan> {
  const partitions: PlannedPartition[] = [];
  for (const one of plan.partitions) {
    const size = one.to - one.from;
    const to = size > 1 ? (await source.cut(one, { bytes: Math.max(1, Math.floor(size / 2)) })).to : one.to;
    partitions.push({ ...one, to, cuts: one.cuts.filter((cut) => cut < to) });
  }
  return { ...plan, partitions, bytes: Math.ceil(plan.bytes / 2) };
}
