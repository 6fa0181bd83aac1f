import { Metric, type MetricOptions, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { MetricName } from "../functions/metrics.ts";

export type { MetricName };

/** Metrics of which the largest tells; all others are counts, or times that have an average. */
const gauges: ReadonlySet<MetricName> = new Set([
  ...(["Lag", "TimeLag", "WatermarkDelay", "FailuresInARow", "UncommittedAge", "StateBytes", "Stopped"] as const),
]);
const times: ReadonlySet<MetricName> = new Set([
  ...(["EpochDuration", "StartDuration", "OperateDuration", "DecideDuration", "CommitDuration"] as const),
]);

function statisticOf(name: MetricName): string {
  if (gauges.has(name)) return Stats.MAXIMUM;
  return times.has(name) ? Stats.AVERAGE : Stats.SUM;
}

/**
 * A pipeline's metrics in CloudWatch, which its functions write into their logs. Two pipelines of the same name in one region share them. They are for people:
 * what an invocation has told twice counts twice; exact counts are in the ledger (`epochflow status`).
 */
export abstract class MeasuredPipeline extends Construct {
  /** The pipeline's name, and that of its metrics' dimension `service`. */
  abstract readonly pipelineName: string;

  /** Any of them, by default over five minutes: the maximum of a gauge, the average of a duration, the sum of a count. */
  metric(metricName: MetricName, options?: MetricOptions): Metric {
    return new Metric({
      namespace: "epochflow",
      metricName,
      dimensionsMap: { service: this.pipelineName },
      statistic: statisticOf(metricName),
      ...options,
    });
  }

  /** What is written and not yet decided, over all partitions: records of topics, bytes of files. Maximum. */
  metricLag(options?: MetricOptions): Metric {
    return this.metric("Lag", options);
  }

  /** Seconds that the oldest record of an epoch was in its topic when it was read. Of Kafka alone. Maximum. */
  metricTimeLag(options?: MetricOptions): Metric {
    return this.metric("TimeLag", options);
  }

  /** Seconds from the watermark to the decision that made it. Maximum. */
  metricWatermarkDelay(options?: MetricOptions): Metric {
    return this.metric("WatermarkDelay", options);
  }

  /** Epochs whose output and state are final. Sum. */
  metricEpochsDecided(options?: MetricOptions): Metric {
    return this.metric("EpochsDecided", options);
  }

  /** Epochs whose output is visible. Sum. */
  metricEpochsCommitted(options?: MetricOptions): Metric {
    return this.metric("EpochsCommitted", options);
  }

  /** Attempts at an epoch that were given up. Sum. */
  metricAttemptsAborted(options?: MetricOptions): Metric {
    return this.metric("AttemptsAborted", options);
  }

  /** Milliseconds from an epoch's plan to its decision. Average. */
  metricEpochDuration(options?: MetricOptions): Metric {
    return this.metric("EpochDuration", options);
  }

  /** Milliseconds from an epoch's decision until its output is visible. Average. */
  metricCommitDuration(options?: MetricOptions): Metric {
    return this.metric("CommitDuration", options);
  }

  /** Records read by decided epochs. Sum. */
  metricRecordsIn(options?: MetricOptions): Metric {
    return this.metric("RecordsIn", options);
  }

  /** Rows that decided epochs write to all sinks, those of late and dead-lettered records included. Sum. */
  metricRowsOut(options?: MetricOptions): Metric {
    return this.metric("RowsOut", options);
  }

  /** Records that were late for a window, once for each window. Sum. */
  metricLateRecords(options?: MetricOptions): Metric {
    return this.metric("LateRecords", options);
  }

  /** Records that went to the dead letters. Sum. */
  metricDeadLetteredRecords(options?: MetricOptions): Metric {
    return this.metric("DeadLetteredRecords", options);
  }

  /** At-most-once: rows that may not have come through. Sum. */
  metricRowsLost(options?: MetricOptions): Metric {
    return this.metric("RowsLost", options);
  }

  /** At-most-once: tasks whose share of the input is lost. Sum. */
  metricTasksLost(options?: MetricOptions): Metric {
    return this.metric("TasksLost", options);
  }

  /** Commits that failed, and are tried again. Sum. */
  metricCommitFailures(options?: MetricOptions): Metric {
    return this.metric("CommitFailures", options);
  }

  /** Seconds since the decision whose output is not visible yet, where that fails or takes long. Maximum. */
  metricUncommittedAge(options?: MetricOptions): Metric {
    return this.metric("UncommittedAge", options);
  }

  /** Bytes of the snapshots that the state would be restored from, before compression. Maximum. */
  metricStateBytes(options?: MetricOptions): Metric {
    return this.metric("StateBytes", options);
  }

  /** Steps of the state machine, without those that failures add. Sum. */
  metricStateTransitions(options?: MetricOptions): Metric {
    return this.metric("StateTransitions", options);
  }
}
