import type { Topology } from "../pipeline/topology.ts";

/** What a stage needs from whoever runs it. */
export interface StageEnvironment {
  readonly topology: Topology;
  /** W(n-1), epoch milliseconds; null before the first. */
  readonly watermark: number | null;
  /** The plan's time, for records that have none. */
  readonly processingTime: number;
  /** Rows for a sink, in order; the array is the callee's afterwards. */
  write(sink: string, rows: unknown[]): void;
  /**
   * What runs now, for the message of a task that ran out of time: operator, partition, first offset of the batch. Called once per batch and operator.
   * For rows that an aggregate made, the partition is "" and the offset -1.
   */
  running?(operator: string, partition: string, offset: number): void;
}
