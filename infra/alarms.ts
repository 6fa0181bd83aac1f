import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { PipelineFunctions } from "./functions.ts";
import type { MeasuredPipeline } from "./metrics.ts";

/** A pipeline's alarms; none of them rings because nothing comes. */
export interface PipelineAlarms {
  readonly stopped: Alarm;
  readonly epochFailing: Alarm;
  readonly commitStuck: Alarm;
  readonly lagGrowing: Alarm;
  readonly triggerFailing: Alarm;
  readonly planFailing: Alarm;
  readonly fusedFailing: Alarm;
  /** With a heartbeat of at most a day. */
  readonly heartbeatMissing?: Alarm;
  /** One for each queue. */
  readonly deadLetters: readonly Alarm[];
}

export interface AlarmOptions {
  readonly pipeline: MeasuredPipeline;
  readonly functions: Pick<PipelineFunctions, "trigger" | "plan" | "fused">;
  readonly heartbeat: Duration | "off";
  readonly deadLetterQueues: readonly IQueue[];
  /** Is told of an alarm, and of its end. */
  readonly topic?: ITopic | undefined;
}

interface Rule {
  readonly metric: IMetric;
  /** What it means. */
  readonly says: string;
  readonly wayOut: string;
  readonly threshold: number;
  readonly comparison?: ComparisonOperator;
  /** Of the last so many periods, this many are beyond the threshold; default one of one. */
  readonly of?: readonly [datapoints: number, periods: number];
  readonly missing: TreatMissingData;
}

/** A task that runs out of time fails only after a quarter of an hour: so long the last failure is not forgotten. */
const withinTwentyMinutes = { period: Duration.minutes(5), of: [1, 4] } as const;
const { NOT_BREACHING, IGNORE, BREACHING } = TreatMissingData;

/** Errors and throttles of the other functions are failed attempts and commits: what they lead to is what rings. */
export function alarms(parent: Construct, options: AlarmOptions): PipelineAlarms {
  const { pipeline, functions, deadLetterQueues, topic } = options;
  const scope = new Construct(parent, "Alarms");
  const alarm = (id: string, rule: Rule) => make(scope, id, pipeline.pipelineName, rule, topic);
  const heartbeatMissing = heartbeatRule(options);
  return {
    stopped: alarm("Stopped", {
      metric: pipeline.metric("Stopped", { period: Duration.minutes(1) }),
      says: "An error that does not pass by itself has stopped it.",
      wayOut: "See the error with `epochflow status`, remove its cause, then `epochflow resume`.",
      threshold: 1,
      // Nothing is told while nothing wakes it, and it is still stopped.
      missing: IGNORE,
    }),
    epochFailing: alarm("EpochFailing", {
      metric: pipeline.metric("FailuresInARow", { period: withinTwentyMinutes.period }),
      says: "Three attempts at the same epoch have failed, one after the other. It is tried again.",
      wayOut: "See why with `epochflow epochs`, or in the logs of operate and fused.",
      threshold: 3,
      of: withinTwentyMinutes.of,
      missing: NOT_BREACHING,
    }),
    commitStuck: alarm("CommitStuck", {
      metric: pipeline.metricUncommittedAge({ period: withinTwentyMinutes.period }),
      says: "Output that was decided more than ten minutes ago is not visible yet. Nothing is lost: it is tried again.",
      wayOut:
        "See why with `epochflow status`, and whether the target can be reached. What can never be committed is given up with `epochflow abandon`.",
      threshold: 600,
      of: withinTwentyMinutes.of,
      missing: NOT_BREACHING,
    }),
    lagGrowing: alarm("LagGrowing", {
      metric: pipeline.metric("LagGrowth", { period: Duration.minutes(15) }),
      says: "In each quarter of the last hour, more has come than was read.",
      wayOut:
        "Give the functions more memory, the policy more parallelism or a longer interval, the topic more partitions.",
      threshold: 0,
      comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
      of: [4, 4],
      missing: NOT_BREACHING,
    }),
    triggerFailing: alarm("TriggerFailing", failing(functions, "trigger", "It cannot be woken")),
    planFailing: alarm("PlanFailing", failing(functions, "plan", "It cannot see what there is to read")),
    fusedFailing: alarm("FusedFailing", failing(functions, "fused", "Small epochs break off")),
    ...(heartbeatMissing && { heartbeatMissing: alarm("HeartbeatMissing", heartbeatMissing) }),
    deadLetters: deadLetterQueues.map((queue) => alarm(`${queue.node.id}NotEmpty`, notEmpty(queue))),
  };
}

function failing(functions: AlarmOptions["functions"], name: keyof AlarmOptions["functions"], says: string): Rule {
  return {
    metric: functions[name].metricErrors({ period: Duration.minutes(5) }),
    says: `${says}: the function ${name} has failed again and again for a quarter of an hour.`,
    wayOut: "Read its log: it names what cannot be reached, or what is not allowed.",
    threshold: 1,
    of: [3, 3],
    missing: NOT_BREACHING,
  };
}

/** Wake-ups of any kind count: while records wake it, it does not need the heartbeat. */
function heartbeatRule({ pipeline, heartbeat }: AlarmOptions): Rule | undefined {
  // CloudWatch looks back a week at most.
  if (heartbeat === "off" || heartbeat.toDays({ integral: false }) > 1) return undefined;
  return {
    metric: pipeline.metric("Wakes", { period: Duration.minutes(Math.ceil(heartbeat.toMinutes({ integral: false }))) }),
    says: "Nothing has woken it for three heartbeats. It may ring for some minutes after the first deployment.",
    wayOut: "See whether the rule of the heartbeat is enabled, and whether the function trigger fails or is throttled.",
    threshold: 1,
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
    of: [3, 3],
    missing: BREACHING,
  };
}

function notEmpty(queue: IQueue): Rule {
  return {
    metric: queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5) }),
    says: "Events that should have woken it were given up.",
    wayOut:
      'Remove what made the function trigger fail, invoke it with { "source": "epochflow" }, and purge the queue: what the events told of, it sees by itself.',
    threshold: 1,
    // A queue that nobody uses tells nothing after some hours, whatever is in it.
    missing: IGNORE,
  };
}

function make(scope: Construct, id: string, pipeline: string, rule: Rule, topic: ITopic | undefined): Alarm {
  const [datapointsToAlarm, evaluationPeriods] = rule.of ?? [1, 1];
  const alarm = new Alarm(scope, id, {
    metric: rule.metric,
    alarmDescription: `Pipeline ${pipeline}: ${rule.says} ${rule.wayOut}`,
    threshold: rule.threshold,
    comparisonOperator: rule.comparison ?? ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm,
    evaluationPeriods,
    treatMissingData: rule.missing,
  });
  if (!topic) return alarm;
  alarm.addAlarmAction(new SnsAction(topic));
  alarm.addOkAction(new SnsAction(topic));
  return alarm;
}
