import type { Json } from "../json.ts";
import { addTo } from "../operators/counts.ts";
import type { DecisionWrite, EpochId } from "../ports/ledger.ts";
import type { UnitDecision } from "../ports/sink.ts";
import { checkpointOf, checkpointOfClaims } from "./checkpoint.ts";
import { digest } from "./digest.ts";
import { type Engine, sourceOf } from "./engine.ts";
import type { Ack, Counts, Decision, EpochRow, PartitionState, Unit } from "./epoch.ts";
import { decidedIn, tasksOf } from "./epoch.ts";
import { lossOf } from "./loss.ts";
import { maxEventTimeAfter, watermarkAfter } from "./watermark.ts";

/**
 * The decision (I3): one conditional write, in which the attempt's acks become the epoch's checkpoint and the work of Commit. It is a function of the
 * acks, and these never change, so whoever repeats it decides the same.
 */
export async function decide(engine: Engine, id: EpochId): Promise<"decided" | "fenced" | "incomplete" | "replan"> {
  const { ledger } = engine;
  const [row, last] = await Promise.all([ledger.epoch(id.epoch), ledger.epoch(id.epoch - 1)]);
  if (!row || row.attempt !== id.attempt || row.status === "fenced") return "fenced";
  if (row.status === "decided") return "decided";
  if (row.attemptPlan.codeDigest !== engine.codeDigest) return "replan";
  const acks = await ledger.acks(id);
  if (!isComplete(row, acks)) return "incomplete";
  const before = decidedIn(last);
  return await ledger.decide(id, decisionOf(engine, row, acks, before));
}

/** Every task of every stage has acknowledged. */
export function isComplete(row: EpochRow, acks: readonly Ack[], stages = row.attemptPlan.tasks.length): boolean {
  return acks.length === tasksOf(row).filter(({ stage }) => stage < stages).length;
}

/**
 * What is decided by an attempt's acks; where some are missing, all that is theirs stays as it was before. Under the weaker guarantees the rows are there already,
 * and nothing is left to commit.
 */
export function decisionOf(
  engine: Engine,
  row: EpochRow,
  acks: readonly Ack[],
  before: Decision | undefined,
): DecisionWrite {
  const { keyGroups } = engine.topology;
  const isWhole = isComplete(row, acks);
  const windows = isWhole || !before ? acks : [...acks, before];
  const { epoch, plan } = row;
  const times = maxEventTimesOf(acks);
  const fixed = {
    kind: "process" as const,
    checkpoint: isWhole ? checkpointOf(row, acks, keyGroups) : checkpointOfClaims(before, row, acks, keyGroups),
    partitions: plan.partitions.map(
      (one): PartitionState => ({
        id: one.id,
        identity: one.identity,
        position: one.to,
        maxEventTime: maxEventTimeAfter(one, times),
        activeAt: one.activeAt,
      }),
    ),
    watermark: watermarkAfter(plan, times, sourceOf(engine).outOfOrderMs),
    nextFire: extreme(
      windows.map((one) => one.nextFire),
      Math.min,
    ),
    openUntil: extreme(
      windows.map((one) => one.openUntil),
      Math.max,
    ),
    counts: addCounts(acks.map((ack) => ack.counts)),
    ...lossOf(row, acks, before),
  };
  const token = digest({ epoch, attempt: row.attempt, uid: engine.uid, ...fixed });
  const previous = before?.previous ?? {};
  const units = unitsOf(engine, acks, {
    epoch,
    token,
    previous: (key) => previous[key] ?? null,
  });
  const decision: Decision = {
    ...fixed,
    token,
    unitCount: units.length,
    sinks: [...new Set(units.map((one) => one.sink))].sort(),
    previous: { ...previous, ...Object.fromEntries(units.map((one) => [`${one.sink}/${one.key}`, epoch])) },
    decidedAt: engine.clock.now(),
  };
  const committed = row.attemptPlan.guarantee !== undefined;
  return { decision, units, ackCount: acks.length, ...(committed && { committed }) };
}

/** Largest event time read, by partition: several tasks may share one. */
export function maxEventTimesOf(acks: readonly Ack[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const ack of acks)
    for (const [partition, time] of Object.entries(ack.maxEventTimes))
      times.set(partition, Math.max(time, times.get(partition) ?? time));
  return times;
}

/** One unit a task, unless the sink groups them. In the order of sink, stage and task, which is that of the output. */
function unitsOf(engine: Engine, acks: readonly Ack[], decision: UnitDecision): Omit<Unit, "status">[] {
  const prepared = acks.flatMap((ack) => ack.prepared.map((one) => ({ ...one, task: ack.task })));
  const bySink = Map.groupBy(prepared, (one) => one.sink);
  return [...bySink.keys()].sort().flatMap((sink) => {
    const tasks = bySink.get(sink)!.sort((one, other) => one.stage - other.stage || one.task - other.task);
    const units = engine
      .sink(sink)
      .units?.(tasks, { ...decision, previous: (key) => decision.previous(`${sink}/${key}`) });
    if (units) return units.map(({ key, unit }) => ({ sink, key, unit }));
    return tasks.map(({ stage, task, handle }) => ({ sink, key: `${stage}-${task}`, unit: handle as Json }));
  });
}

function extreme(values: readonly (number | null)[], pick: (...values: number[]) => number): number | null {
  const known = values.filter((one) => one !== null);
  return known.length === 0 ? null : known.reduce((one, other) => pick(one, other));
}

export function addCounts(all: readonly Counts[]): Counts {
  const rows: Record<string, number> = {};
  const sum = { records: 0, bytes: 0, skipped: 0, deadLettered: 0, late: 0 };
  for (const one of all) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += one[key];
    for (const [sink, count] of Object.entries(one.rows)) addTo(rows, sink, count);
  }
  return { ...sum, rows };
}
