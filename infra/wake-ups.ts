import { Annotations, Duration } from "aws-cdk-lib";
import { Rule, RuleTargetInput, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction, SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsEventSource } from "aws-cdk-lib/aws-lambda-event-sources";
import { type IQueue, Queue, type QueueProps } from "aws-cdk-lib/aws-sqs";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { InvocationType, Trigger } from "aws-cdk-lib/triggers";
import type { Construct } from "constructs";
import type { PipelineFunctions } from "./functions.ts";

/** More tries than any outage of a day needs; then a message goes to the dead letters. */
const tries = 1000;

/**
 * Executions that ended badly reach `trigger` through a queue, so that the event, which is the proof that an execution is over, stays until an execution is
 * started (I7). One that ended in any way is the occasion to collect what it has left.
 *
 * @returns the queue of those that were given up
 */
export function wakeOnEndedExecutions(
  scope: Construct,
  machine: StateMachine,
  { trigger, collect }: PipelineFunctions,
  encryption: QueueProps,
): Queue {
  const deadLetters = deadLetterQueue(scope, "EndedDeadLetters", encryption);
  const queue = wakingQueue(scope, "Ended", trigger, deadLetters, encryption);
  new Rule(scope, "EndedRule", {
    eventPattern: patternOf(machine, ["FAILED", "TIMED_OUT", "ABORTED"]),
    targets: [new SqsQueue(queue)],
  });
  new Rule(scope, "CollectRule", {
    eventPattern: patternOf(machine, ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]),
    targets: [new LambdaFunction(collect)],
  });
  return deadLetters;
}

/** A queue whose messages `trigger` gets again and again until it has served them, or has failed so often that they are given up. */
export function wakingQueue(
  scope: Construct,
  id: string,
  trigger: IFunction,
  deadLetters: IQueue,
  encryption: QueueProps,
): Queue {
  const queue = new Queue(scope, id, {
    ...encryption,
    retentionPeriod: longestRetention,
    // Six times what the function may take, as Lambda's documentation advises.
    visibilityTimeout: Duration.minutes(6),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: tries },
  });
  trigger.addEventSource(new SqsEventSource(queue, { batchSize: 1 }));
  return queue;
}

/** Wakes the pipeline now and then, whatever may have been missed. */
export function wakeRegularly(scope: Construct, every: Duration, { trigger }: PipelineFunctions): void {
  new Rule(scope, "Heartbeat", {
    schedule: Schedule.rate(every),
    targets: [new LambdaFunction(trigger, { event: RuleTargetInput.fromObject({ source: "epochflow" }) })],
  });
}

/**
 * Deploying wakes once: the code or a parameter may be what a pipeline that stopped, or sees nothing new, has waited for. It goes last, when all functions are those of the
 * deployment.
 */
export function wakeOnDeployment(scope: Construct, machine: StateMachine, functions: PipelineFunctions): void {
  Annotations.of(functions.trigger).acknowledgeWarning(
    "@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias",
    "Only the custom resource invokes the version that was deployed, and it may.",
  );
  new Trigger(scope, "Deployed", {
    handler: functions.trigger,
    invocationType: InvocationType.EVENT,
    executeAfter: [machine, ...Object.values(functions)],
  });
}

const longestRetention = Duration.days(14);

/** For what was given up, so that people see it. */
export function deadLetterQueue(scope: Construct, id: string, encryption: QueueProps): Queue {
  return new Queue(scope, id, { ...encryption, retentionPeriod: longestRetention });
}

function patternOf({ stateMachineArn }: StateMachine, status: readonly string[]) {
  return {
    source: ["aws.states"],
    detailType: ["Step Functions Execution Status Change"],
    detail: { stateMachineArn: [stateMachineArn], status: [...status] },
  };
}
