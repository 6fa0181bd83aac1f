import { createHash } from "node:crypto";
import { Duration, Names, Token } from "aws-cdk-lib";
import { EventSourceMapping, type IFunction, StartingPosition } from "aws-cdk-lib/aws-lambda";
import type { QueueProps } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { grant } from "../rights.ts";
import { wakingQueue } from "../wake-ups.ts";
import type { PipelineKafka } from "./pipeline-kafka.ts";

/** Records are not used, so many may come at once; Lambda cuts a batch at 6 MB. */
const batchSize = 10_000;
/** Of the name of a consumer group. */
const longestName = 200;

/**
 * Names of the mappings' consumer groups, by topic. Each topic has one of its own, and so has each deployment: in one that two deployments share, a record would wake
 * only one of them.
 */
export function groupsOf(scope: Construct, pipeline: string, topics: readonly string[]): ReadonlyMap<string, string> {
  const deployment = Names.uniqueResourceName(scope, { maxLength: 60, separator: "-" });
  return new Map(topics.map((topic) => [topic, groupOf(`epochflow.${pipeline}.trigger.${deployment}`, topic)]));
}

function groupOf(prefix: string, topic: string): string {
  const name = `${prefix}.${topic}`;
  if (Token.isUnresolved(topic) || name.length <= longestName) return name;
  return `${prefix}.${createHash("sha256").update(topic).digest("hex").slice(0, 32)}`;
}

/**
 * Records of each topic wake the pipeline (protocol §6). Lambda tries a batch ten times; that it gave one up is a message, which wakes in the records' place: later ones
 * may be long in coming.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/kafka-on-failure.html
 */
export function wakeOnRecords(
  scope: Construct,
  trigger: IFunction,
  { cluster, network, wakeUps }: PipelineKafka,
  encryption: QueueProps,
  batchingWindow = Duration.seconds(5),
): EventSourceMapping[] {
  if (wakeUps === undefined) return [];
  const { groups, deadLetters } = wakeUps;
  const failed = wakingQueue(scope, "RecordsFailed", trigger, deadLetters, encryption);
  // Not the queue's own grant, which has wildcards for its key.
  grant(trigger, [{ actions: ["sqs:SendMessage"], resources: [failed.queueArn] }]);
  return [...groups].map(([topic, kafkaConsumerGroupId], index) => {
    const id = Token.isUnresolved(topic) ? `Records${index}` : `Records-${topic}`;
    return new EventSourceMapping(scope, id, {
      target: trigger,
      ...cluster.mapping(network),
      kafkaTopic: topic,
      kafkaConsumerGroupId,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      maxBatchingWindow: batchingWindow,
      onFailure: { bind: () => ({ destination: failed.queueArn }) },
    });
  });
}
