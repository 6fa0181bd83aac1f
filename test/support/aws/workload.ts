import type { AppSettings } from "./pipeline-stack.ts";

/** A pipeline's input, and what has to come of it. */
export interface Workload {
  readonly props: Pick<AppSettings["props"], "entry" | "parameters">;
  /** Where the pipeline writes files: `s3://bucket/prefix`. */
  readonly files: string;
  /** Adds so many lines of so many words each. */
  feed(lines: number, words: number): Promise<void>;
  /** Adds what closes the windows of all input so far. */
  close(): Promise<void>;
  /** What is wrong with the output. */
  problems(): Promise<string[]>;
  /** How many rows that has looked at. */
  readonly rows: number;
}
