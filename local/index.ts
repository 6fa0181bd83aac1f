/**
 * Runs pipelines on this machine, from a program, and reads what they have written to files.
 *
 * @module epochflow/local
 */
export { readEpochs, readRows } from "../shared/adapters/filesystem/reader.ts";
export type { EpochRows, ReadOptions } from "../shared/adapters/output/reading.ts";
export type { Message, Progress, RunOptions, RunResult } from "./options.ts";
export { run } from "./run.ts";
export type { Log, LogFields, LogLevel } from "./watch/log.ts";
export type { MetricsOptions } from "./watch/metrics/metrics-server.ts";
