import { Duration } from "aws-cdk-lib";
import { Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import type { PipelineFunctions } from "./functions.ts";

/** More tries than any outage of a day needs; then a message goes to the dead letters. */
const tries = 1000;

/**
 * Executions that ended badly reach `trigger` through a queue, so that the event, which is the proof that an execution is over, stays until an execution is
 * started (I7). One that ended in any way is the occasion to collect what it has left.
 */
export function wakeOnEndedExecutions(
  scope: Construct,
  machine: StateMachine,
  { trigger, collect }: PipelineFunctions,
) {
  const deadLetters = new Queue(scope, "EndedDeadLetters", { ...queueDefaults, retentionPeriod: Duration.days(14) });
  const queue = new Queue(scope, "Ended", {
    ...queueDefaults,
    retentionPeriod: Duration.days(14),
    visibilityTimeout: Duration.minutes(6),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: tries },
  });
  new Rule(scope, "EndedRule", {
    eventPattern: patternOf(machine, ["FAILED", "TIMED_OUT", "ABORTED"]),
    targets: [new SqsQueue(queue)],
  });
  new Rule(scope, "CollectRule", {
    eventPattern: patternOf(machine, ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]),
    targets: [new LambdaFunction(collect)],
  });
  trigger.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
}

/** Wakes the pipeline now and then, whatever may have been missed. */
export function wakeRegularly(scope: Construct, every: Duration, { trigger }: PipelineFunctions): void {
  new Rule(scope, "Heartbeat", {
    schedule: Schedule.rate(every),
    targets: [new LambdaFunction(trigger, { event: RuleTargetInput.fromObject({ source: "epochflow" }) })],
  });
}

const queueDefaults = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true };

function patternOf({ stateMachineArn }: StateMachine, status: readonly string[]) {
  return {
    source: ["aws.states"],
    detailType: ["Step Functions Execution Status Change"],
    detail: { stateMachineArn: [stateMachineArn], status: [...status] },
  };
}
