/** A metric of a run. All have the label `pipeline`. */
interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Seconds: an epoch takes milliseconds where there is little, and minutes where a service is slow. */
export const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/**
 * Every metric that a run on this machine emits: those of `functions/metrics.ts`, by the names that Prometheus would have for them. Counters count what this
 * process saw, and begin at 0 with it, as Prometheus expects; exact counts are in the ledger. Gauges are as the ledger has it when they are scraped.
 */
export const metricDefinitions = {
  epochflow_records_read_total: { type: "counter", help: "Records that decided epochs have read" },
  epochflow_bytes_read_total: { type: "counter", help: "Bytes of the values of those records" },
  epochflow_rows_written_total: {
    type: "counter",
    help: "Rows that decided epochs write, by sink, those of late and dead-lettered records included",
    labels: ["sink"],
  },
  epochflow_records_late_total: { type: "counter", help: "(Record, window) pairs that came too late" },
  epochflow_records_dead_lettered_total: { type: "counter", help: "Records that went to the dead letters" },
  epochflow_records_skipped_total: { type: "counter", help: "Records that failed, and were skipped" },
  epochflow_attempts_planned_total: { type: "counter", help: "Attempts at epochs that were begun" },
  epochflow_attempts_aborted_total: { type: "counter", help: "Attempts at epochs that were given up" },
  epochflow_epochs_decided_total: { type: "counter", help: "Epochs whose output and state are final" },
  epochflow_epochs_committed_total: { type: "counter", help: "Epochs whose output is visible" },
  epochflow_epochs_lost_total: { type: "counter", help: "At-most-once: epochs of which anything may be lost" },
  epochflow_tasks_lost_total: { type: "counter", help: "At-most-once: tasks whose share of the input is lost" },
  epochflow_rows_lost_total: { type: "counter", help: "At-most-once: rows that may be lost" },
  epochflow_commit_failures_total: {
    type: "counter",
    help: "Commits that failed, each to be tried again, by sink; an empty sink: the epoch could not be completed",
    labels: ["sink"],
  },
  epochflow_step_failures_total: {
    type: "counter",
    help: "Other steps of the coordinator that failed: plan, operate, decide, abort",
    labels: ["step"],
  },
  epochflow_epoch_duration_seconds: { type: "histogram", help: "From an epoch's plan to its decision" },
  epochflow_epoch_phase_duration_seconds: {
    type: "histogram",
    help: "Its parts (start: plan to first task; operate: to the last acknowledgement; decide: to the decision), and commit: decision to commit",
    labels: ["phase"],
  },
  epochflow_partition_lag_records: {
    type: "gauge",
    help: "Records between what is decided and what is written, by partition, where a source counts records",
    labels: ["partition"],
  },
  epochflow_partition_lag_bytes: {
    type: "gauge",
    help: "The same in bytes, where a source counts bytes, as files do",
    labels: ["partition"],
  },
  epochflow_partition_lag_seconds: {
    type: "gauge",
    help: "How long ago this process first saw that a partition has what is not decided; 0: there is none",
    labels: ["partition"],
  },
  epochflow_watermark_seconds: { type: "gauge", help: "The watermark, in Unix time; absent before the first record" },
  epochflow_watermark_delay_seconds: { type: "gauge", help: "How far the watermark is behind the clock" },
  epochflow_last_epoch: {
    type: "gauge",
    help: "Number of the last epoch that was planned, decided, committed",
    labels: ["status"],
  },
  epochflow_failures_in_a_row: { type: "gauge", help: "Attempts at the next epoch that have failed so far" },
  epochflow_uncommitted_age_seconds: {
    type: "gauge",
    help: "Age of the oldest decision that is not committed; 0: there is none",
  },
  epochflow_state_bytes: {
    type: "gauge",
    help: "Snapshots that the state would be restored from, before compression",
  },
  epochflow_paused: { type: "gauge", help: "1: the pipeline is paused" },
  epochflow_stopped: { type: "gauge", help: "1: an error has stopped the pipeline" },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof metricDefinitions;
