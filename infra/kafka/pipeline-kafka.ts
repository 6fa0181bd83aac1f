import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { FunctionName } from "../bundle.ts";
import type { Right } from "../rights.ts";
import { type BoundCluster, type Network, talkingToBrokers } from "./cluster.ts";
import type { KafkaUse } from "./use.ts";

/** A pipeline's cluster, and what the pipeline does with it. */
export interface PipelineKafka {
  readonly cluster: BoundCluster;
  readonly network: Network | undefined;
  readonly use: KafkaUse;
  /** Absent where no records wake the pipeline. */
  readonly wakeUps: RecordWakeUps | undefined;
}

export interface RecordWakeUps {
  /** Consumer groups of the event source mappings, by topic. */
  readonly groups: ReadonlyMap<string, string>;
  /** For what tells of records that Lambda gave up on, and `trigger` could not serve either. No record is lost, since the plan reads the topics itself. */
  readonly deadLetters: IQueue;
}

export function kafkaRights(name: FunctionName, { cluster, network, use, wakeUps }: PipelineKafka): Right[] {
  if (talkingToBrokers.has(name)) return cluster.rightsOf(name, use);
  if (name !== "trigger" || wakeUps === undefined) return [];
  return cluster.pollerRights(wakeUps.groups, network);
}
