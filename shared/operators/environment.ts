import type { Topology } from "../pipeline/topology.ts";
import type { ColumnRows, TextRows } from "../ports/columns.ts";
import type { RefusedRow, TimeOfRow } from "../ports/sink.ts";

/** Rows for a sink, in order; the array is the callee's afterwards. What the sink cannot encode goes to `refused`, at once; `timeOf` is good during the call. */
export type WriteRows = (sink: string, rows: unknown[], timeOf: TimeOfRow, refused?: RefusedRow) => void;

/** Rows in another form, which is good during the call. */
export type WriteForm<Rows> = (sink: string, rows: Rows, refused?: RefusedRow) => void;

/** The same rows as columns. */
export type WriteColumns = WriteForm<ColumnRows>;

/** The same of rows that are texts, as bytes. */
export type WriteTexts = WriteForm<TextRows>;

/** What a stage needs from whoever runs it. */
export interface StageEnvironment {
  readonly topology: Topology;
  /** W(n-1), epoch milliseconds; null before the first. */
  readonly watermark: number | null;
  /** The plan's time, for records that have none. */
  readonly processingTime: number;
  readonly write: WriteRows;
  /** Without it all rows go to `write`. */
  readonly writeColumns?: WriteColumns;
  readonly writeTexts?: WriteTexts;
  /**
   * What runs now, for the message of a task that ran out of time: operator, partition, first offset of the batch. Called once per batch and operator.
   * For rows that an aggregate made, the partition is "" and the offset -1.
   */
  running?(operator: string, partition: string, offset: number): void;
}
