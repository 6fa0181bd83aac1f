import { MetricUnit } from "@aws-lambda-powertools/metrics";
import type { DecidedEpoch } from "../shared/epoch/epoch.ts";
import type { KnownPartition, PartitionStatus, Source } from "../shared/ports/source.ts";

/** Every metric that a run emits, by pipeline (dimension `service`). They are for people: exact counts are in the ledger. */
export const metricUnits = {
  /** Offsets between what is decided and what is written, over all partitions: records of a topic, bytes of files. */
  Lag: MetricUnit.Count,
  /** How far the watermark is behind the time of the decision. */
  WatermarkDelay: MetricUnit.Milliseconds,
  EpochsDecided: MetricUnit.Count,
  EpochsCommitted: MetricUnit.Count,
  /** From plan to decision, and from decision to commit. */
  EpochDuration: MetricUnit.Milliseconds,
  CommitDuration: MetricUnit.Milliseconds,
  RecordsIn: MetricUnit.Count,
  RowsOut: MetricUnit.Count,
  LateRecords: MetricUnit.Count,
  DeadLetteredRecords: MetricUnit.Count,
  SkippedRecords: MetricUnit.Count,
  AttemptsAborted: MetricUnit.Count,
  CommitFailures: MetricUnit.Count,
  /** Age of a decision when a commit of it failed. */
  UncommittedAge: MetricUnit.Milliseconds,
  Wakes: MetricUnit.Count,
  ObjectsCollected: MetricUnit.Count,
} as const;

export type MetricName = keyof typeof metricUnits;
export type Observe = (metric: MetricName, value: number) => void;

export function observeDecision(observe: Observe, { plannedAt, decision }: DecidedEpoch): void {
  const { counts, watermark, decidedAt } = decision;
  observe("EpochsDecided", 1);
  observe("EpochDuration", Math.max(0, decidedAt - plannedAt));
  if (watermark !== null) observe("WatermarkDelay", Math.max(0, decidedAt - watermark));
  observe("RecordsIn", counts.records);
  observe(
    "RowsOut",
    Object.values(counts.rows).reduce((sum, rows) => sum + rows, 0),
  );
  observe("LateRecords", counts.late);
  observe("DeadLetteredRecords", counts.deadLettered);
  observe("SkippedRecords", counts.skipped);
}

/** The source, which tells the lag whenever partitions are looked at. */
export function observeLag(source: Source, observe: Observe): Source {
  return {
    offsets: source.offsets,
    discover: async (known) => {
      const found = await source.discover(known);
      observe("Lag", lagOf(known, found));
      return found;
    },
    cut: (range, limit) => source.cut(range, limit),
    split: (range, pieceBytes) => source.split(range, pieceBytes),
    read: (range, signal) => source.read(range, signal),
    close: () => source.close(),
  };
}

function lagOf(known: readonly KnownPartition[], found: readonly PartitionStatus[]): number {
  const positions = new Map(known.map(({ id, position }) => [id, position]));
  return found.reduce((sum, { id, start, high }) => sum + Math.max(0, high - (positions.get(id) ?? start)), 0);
}
