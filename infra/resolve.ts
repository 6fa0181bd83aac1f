import { Token } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { isS3Path } from "../composition/s3-path.ts";
import { UsageError } from "../shared/errors.ts";
import { bind } from "../shared/pipeline/bind.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
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
  const topology = bind(described, parameters, props.pipelineName);
  checkPaths(topology);
  const use = cluster && kafkaUseOf(described, topology);
  const wakeUps = recordWakeUps(scope, topology.name, triggerTopicsOf(use, props), props.encryptionKey);
  return { topology, parameters, network, kafka: cluster && use && { cluster, network, use, wakeUps } };
}

/** A function has no disk that outlives it. */
function checkPaths({ name, nodes: [node], sinks }: Topology): void {
  const described = [...(node?.kind === "source" ? [["source", node.source] as const] : []), ...Object.entries(sinks)];
  for (const [id, { kind, options }] of described) {
    if (kind !== "files" || isS3Path(options.path)) continue;
    const path = Token.isUnresolved(options.path) ? "known only when the stack is deployed" : `"${options.path}"`;
    const what = id === "source" ? "the source" : `the sink ${id}`;
    throw new UsageError(
      "local-path",
      `On AWS files lie in S3, but the path of ${what} of pipeline ${name} is ${path}`,
      {
        wayOut:
          'Make it a parameter, and give a text that begins with s3:// and a bucket: { input: "s3://bucket/prefix" }.',
      },
    );
  }
}

function recordWakeUps(
  scope: Construct,
  pipeline: string,
  topics: readonly string[],
  encryptionKey: IKey | undefined,
): RecordWakeUps | undefined {
  if (topics.length === 0) return undefined;
  const deadLetters = deadLetterQueue(scope, "RecordsDeadLetters", queueEncryption(encryptionKey));
  return { groups: groupsOf(scope, pipeline, topics), deadLetters };
}
