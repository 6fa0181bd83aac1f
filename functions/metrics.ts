import { MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Engine } from "../shared/epoch/engine.ts";
import type { Ack, DecidedEpoch, EpochRow } from "../shared/epoch/epoch.ts";
import type { PlanAnswer } from "../shared/epoch/plan.ts";
import type { Clock } from "../shared/ports/clock.ts";
import type { EpochId } from "../shared/ports/ledger.ts";
import type { KnownPartition, PartitionStatus, Source } from "../shared/ports/source.ts";

/**
 * Every metric that a run emits, by pipeline (dimension `service`). They are for people: an invocation that is doubled tells its part twice, and one that is killed
 * tells nothing. Exact counts are in the ledger.
 */
export const metricUnits = {
  /** Offsets between what is decided and what is written, over all partitions, whenever an epoch is planned: records of a topic, bytes of files. */
  Lag: MetricUnit.Count,
  /** How much more waits behind an epoch than waited behind the one before, as their plans saw it: offsets, as of `Lag`. */
  LagGrowth: MetricUnit.Count,
  /** How long the oldest record of an epoch was in its topic when a task read it: from the record's timestamp in Kafka to the task's clock. Files tell none. */
  TimeLag: MetricUnit.Seconds,
  /** How far the watermark is behind the time of the decision. */
  WatermarkDelay: MetricUnit.Seconds,
  EpochsDecided: MetricUnit.Count,
  EpochsCommitted: MetricUnit.Count,
  AttemptsAborted: MetricUnit.Count,
  /** Attempts at one epoch that have failed so far, one after the other. */
  FailuresInARow: MetricUnit.Count,
  /** From plan to decision: the three that follow. */
  EpochDuration: MetricUnit.Milliseconds,
  /** From plan to the begin of the first task, from there to the last acknowledgement, from there to the decision. */
  StartDuration: MetricUnit.Milliseconds,
  OperateDuration: MetricUnit.Milliseconds,
  DecideDuration: MetricUnit.Milliseconds,
  /** From decision to commit. */
  CommitDuration: MetricUnit.Milliseconds,
  RecordsIn: MetricUnit.Count,
  /** Late and dead-lettered ones included, where they have a sink. */
  RowsOut: MetricUnit.Count,
  /** (Record, window) pairs that came too late. */
  LateRecords: MetricUnit.Count,
  DeadLetteredRecords: MetricUnit.Count,
  SkippedRecords: MetricUnit.Count,
  /** At-most-once: epochs of which anything may be lost; tasks whose share of the input is; rows that may be. */
  EpochsLost: MetricUnit.Count,
  TasksLost: MetricUnit.Count,
  RowsLost: MetricUnit.Count,
  /** Failed tries to commit a sink or to complete an epoch; each is followed by another. */
  CommitFailures: MetricUnit.Count,
  /** Age of the oldest decision that is not committed: told by each failed commit, and by each plan that finds it old. */
  UncommittedAge: MetricUnit.Seconds,
  /** Of the snapshots that all state would be restored from, before compression. */
  StateBytes: MetricUnit.Bytes,
  /** 1 if an error has stopped the pipeline, 0 if not: told by whatever wakes it, and when an execution ends. */
  Stopped: MetricUnit.Count,
  /** Steps of the state machine, as far as they go by plan: those of failures come on top. */
  StateTransitions: MetricUnit.Count,
  Wakes: MetricUnit.Count,
  ObjectsCollected: MetricUnit.Count,
} as const;

export type MetricName = keyof typeof metricUnits;
export type Observe = (metric: MetricName, value: number) => void;

const duration = (from: number, to: number) => Math.max(0, to - from);
const seconds = (from: number, to: number) => duration(from, to) / 1000;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** What cannot be told is not worth a failed step. */
const quietly =
  <Args extends unknown[]>(tell: (...args: Args) => Promise<void>) =>
  async (...args: Args): Promise<void> =>
    await tell(...args).catch(() => {});

type Reads = Pick<Engine, "ledger">;
type ReadsWithClock = Pick<Engine, "ledger" | "clock">;

/** To be called once an attempt is decided. */
export const observeDecision = quietly(async ({ ledger }: Reads, id: EpochId, observe: Observe) => {
  const [row, before, acks] = await Promise.all([
    ...[ledger.epoch(id.epoch), ledger.epoch(id.epoch - 1)],
    ledger.acks(id),
  ] as const);
  if (row?.status !== "decided" || row.attempt !== id.attempt) return;
  const { counts, watermark, decidedAt } = row.decision;
  observe("EpochsDecided", 1);
  if (watermark !== null) observe("WatermarkDelay", seconds(watermark, decidedAt));
  if (before) observe("LagGrowth", leftBy(row) - leftBy(before));
  observe("RecordsIn", counts.records);
  observe("RowsOut", sum(Object.values(counts.rows)));
  // A metric costs by the hour in which anything is told of it.
  const exceptions = {
    LateRecords: counts.late,
    DeadLetteredRecords: counts.deadLettered,
    SkippedRecords: counts.skipped,
  };
  for (const [metric, count] of Object.entries(exceptions)) if (count > 0) observe(metric as MetricName, count);
  observeTasks(row, acks, observe);
  tellLoss(row, observe);
  // Under a weaker guarantee there is nothing more to come.
  if (row.attemptPlan.guarantee !== undefined) observe("EpochsCommitted", 1);
});

function tellLoss({ decision: { loss } }: DecidedEpoch, observe: Observe): void {
  if (loss === undefined) return;
  observe("EpochsLost", 1);
  observe("TasksLost", loss.shares.length);
  observe("RowsLost", sum(Object.values(loss.rows)));
}

/** What was there when an epoch was planned, and is in none of its ranges. */
const leftBy = ({ plan }: EpochRow) => sum(plan.partitions.map(({ to, seen }) => (seen ? seen.high - to : 0)));

function observeTasks({ plannedAt, decision }: DecidedEpoch, acks: readonly Ack[], observe: Observe): void {
  observe("EpochDuration", duration(plannedAt, decision.decidedAt));
  if (acks.length === 0) return; // an old epoch, whose rows have been collected
  const startedAt = Math.min(...acks.map((ack) => ack.startedAt));
  const endedAt = Math.max(...acks.map((ack) => ack.endedAt));
  observe("StartDuration", duration(plannedAt, startedAt));
  observe("OperateDuration", duration(startedAt, endedAt));
  observe("DecideDuration", duration(endedAt, decision.decidedAt));
  observe("StateBytes", sum(acks.map((ack) => ack.stateBytes)));
}

/** To be called once an attempt is aborted. */
export const observeAbort = quietly(async ({ ledger }: Reads, id: EpochId, observe: Observe) => {
  observe("AttemptsAborted", 1);
  const row = await ledger.epoch(id.epoch);
  if (row?.attempt === id.attempt) observe("FailuresInARow", row.failures);
});

/** To be called once an epoch is sealed. */
export const observeCommit = quietly(async ({ ledger }: Reads, epoch: number, observe: Observe) => {
  const row = await ledger.epoch(epoch);
  if (row?.status !== "decided" || row.committedAt === null) return;
  observe("EpochsCommitted", 1);
  observe("CommitDuration", duration(row.decision.decidedAt, row.committedAt));
});

/** To be called when an epoch's commit has failed, or takes long. */
export const observeUncommitted = quietly(
  async ({ ledger, clock }: ReadsWithClock, epoch: number, observe: Observe) => {
    const row = await ledger.epoch(epoch);
    if (row?.status === "decided" && row.committedAt === null)
      observe("UncommittedAge", seconds(row.decision.decidedAt, clock.now()));
  },
);

/** To be called with each answer of `plan`. Where nothing is wrong it asks for nothing more, but when an execution ends. */
export const observePlan = quietly(async (engine: ReadsWithClock, answer: PlanAnswer, observe: Observe) => {
  if (answer.action === "end") await observeStatus(engine, observe);
  else if (answer.action === "again" && answer.lost !== undefined) {
    const row = await engine.ledger.epoch(answer.lost);
    if (row?.status === "decided") tellLoss(row, observe);
  }
  // From the age, which the answer has not: it is more than one from the sixth second on.
  else if ("commit" in answer && answer.commit && answer.commit.retrySeconds > 1)
    await observeUncommitted(engine, answer.commit.epoch, observe);
});

/** To be called when an execution ends, or does not start. */
export const observeStatus = quietly(async ({ ledger }: Reads, observe: Observe) => {
  observe("Stopped", (await ledger.head())?.status === "stopped" ? 1 : 0);
});

/** The source, which tells the lag whenever partitions are looked at. */
export function observeLag(source: Source, observe: Observe): Source {
  return {
    ...through(source),
    discover: async (known) => {
      const found = await source.discover(known);
      observe("Lag", lagOf(known, found));
      return found;
    },
  };
}

function lagOf(known: readonly KnownPartition[], found: readonly PartitionStatus[]): number {
  const positions = new Map(known.map(({ id, position }) => [id, position]));
  return sum(found.map(({ id, start, high }) => Math.max(0, high - (positions.get(id) ?? start))));
}

/** The source, which tells the age of a range's first record, unless it has told of an older one. For one task. */
export function observeTimeLag(source: Source, clock: Clock, observe: Observe): Source {
  let oldest = Number.NEGATIVE_INFINITY;
  return {
    ...through(source),
    read: async function* (range, signal) {
      let isFirst = true;
      for await (const batch of source.read(range, signal)) {
        const written = isFirst && batch.count > 0 ? batch.timestamps?.[0] : undefined;
        if (batch.count > 0) isFirst = false;
        // A record of a very old producer has -1.
        if (written !== undefined && written >= 0 && clock.now() - written > oldest) {
          oldest = clock.now() - written;
          observe("TimeLag", Math.max(0, oldest) / 1000);
        }
        yield batch;
      }
    },
  };
}

/** Sources are objects of classes: their methods are not copied by a spread. */
function through(source: Source): Source {
  return {
    offsets: source.offsets,
    discover: (known) => source.discover(known),
    cut: (range, limit) => source.cut(range, limit),
    split: (range, pieceBytes) => source.split(range, pieceBytes),
    read: (range, signal) => source.read(range, signal),
    place: async (range, offset) => (await source.place?.(range, offset)) ?? {},
    close: () => source.close(),
  };
}
