import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { bind } from "../shared/pipeline/bind.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { acknowledge } from "./acknowledged.ts";
import { descriptionOf } from "./description.ts";
import { queueEncryption } from "./encryption.ts";
import { checkCluster, triggerTopicsOf } from "./kafka/check.ts";
import type { Network } from "./kafka/cluster.ts";
import { groupsOf } from "./kafka/mappings.ts";
import type { PipelineKafka, RecordWakeUps } from "./kafka/pipeline-kafka.ts";
import { kafkaUseOf } from "./kafka/use.ts";
import { networkOf } from "./network.ts";
import type { StreamPipelineProps } from "./props.ts";
import { deadLetterQueue } from "./wake-ups.ts";

/** What the pipeline's module and the props come to together. */
export interface ResolvedPipeline {
  readonly topology: Topology;
  readonly parameters: Readonly<Record<string, string>>;
  readonly network: Network | undefined;
  readonly kafka: PipelineKafka | undefined;
}

/** @throws UsageError for a pipeline that is none, and for props that do not go with it */
export function resolvePipeline(scope: Construct, props: StreamPipelineProps): ResolvedPipeline {
  const described = descriptionOf(props.entry);
  checkCluster(described, props);
  const network = networkOf(scope, props);
  const cluster = props.kafka?.bind(scope);
  if (network) cluster?.openTo(network);
  const parameters = { ...(cluster && { brokers: cluster.bootstrapServers }), ...props.parameters };
  const topology = bind(described, parameters);
  const use = cluster && kafkaUseOf(described, topology);
  const wakeUps = recordWakeUps(scope, topology.name, triggerTopicsOf(use, props), props.encryptionKey);
  return { topology, parameters, network, kafka: cluster && use && { cluster, network, use, wakeUps } };
}

function recordWakeUps(
  scope: Construct,
  pipeline: string,
  topics: readonly string[],
  encryptionKey: IKey | undefined,
): RecordWakeUps | undefined {
  if (topics.length === 0) return undefined;
  const onFailure = deadLetterQueue(scope, "RecordsDeadLetters", queueEncryption(encryptionKey));
  acknowledge(onFailure, "AwsSolutions-SQS3");
  return { groups: groupsOf(scope, pipeline, topics), onFailure };
}
