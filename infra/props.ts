import type { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { ISecurityGroup, IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { Architecture } from "aws-cdk-lib/aws-lambda";
import type { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { PolicySettings } from "../functions/settings.ts";
import type { KafkaCluster } from "./kafka/cluster.ts";

export interface StreamPipelineProps {
  /** The module whose default export is the pipeline. */
  readonly entry: string;
  /** In place of the name in the module, so that one module may be deployed many times, with other parameters. A name that changes is another pipeline, which begins anew. */
  readonly pipelineName?: string;
  /** The cluster that the pipeline's parameter `brokers` stands for, as it does for sources and sinks without a connection of their own: `Kafka.msk(cluster)` or `Kafka.selfManaged({ … })`. */
  readonly kafka?: KafkaCluster;
  /** Values of the pipeline's parameters. `brokers` is the cluster's unless it is given here. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Epochs and tasks: `{ intervalMs: 1000 }`. By default epochs of ten seconds, and at most eight tasks a stage, which is also how many functions call a broker at a time. */
  readonly policy?: PolicySettings;

  /** MiB of the functions that process records, 128 to 10,240; 1,769 is one CPU, and the default. */
  readonly memory?: number;
  /**
   * MiB of the function that does small epochs one after the other, and is paid for while it waits for the next. The whole state has to fit, so what makes `memory` grow makes this grow.
   * Default 1,024, or `memory` where that is less.
   */
  readonly fusedMemory?: number;
  /** Default arm64. */
  readonly architecture?: Architecture;

  /**
   * Topics whose records wake the pipeline, by an event source mapping each. By default those of the source; a source with a `pattern` has none, and is looked at with each
   * heartbeat. A mapping costs nothing while no records come.
   */
  readonly triggerTopics?: readonly string[];
  /**
   * How long records may wait until they wake an idle pipeline, up to five minutes. Each batch is an invocation, and a write to the ledger, also while the pipeline runs. Default five
   * seconds.
   */
  readonly batchingWindow?: Duration;
  /** How often the pipeline is woken though nothing has told of new input; `"off"`: never. Default five minutes. */
  readonly heartbeat?: Duration | "off";

  /**
   * Where the functions lie that talk to brokers, and read and write what the pipeline does; the others lie in no VPC. Without a NAT gateway, see `gatewayEndpoints`. Default: the
   * cluster's VPC, if it has one.
   */
  readonly vpc?: IVpc;
  /** Default: the VPC's private subnets. Public ones have to be named, and need `gatewayEndpoints`: a function has no public address. */
  readonly vpcSubnets?: SubnetSelection;
  /** By default one of its own, that nothing gets into: `pipeline.connections` leads to others. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /** Whether the VPC gets gateway endpoints for S3 and DynamoDB, by which functions reach bucket and table without a NAT gateway. They are free. Default false. */
  readonly gatewayEndpoints?: boolean;

  /** Where snapshots lie; the keys of this pipeline begin with its name. It must have no lifecycle rule for them. By default a bucket of its own. */
  readonly bucket?: IBucket;
  /** The ledger, with the keys `pk` and `sk`, both texts; several pipelines may share it. By default a table of its own. */
  readonly table?: ITable;
  /** Of the bucket and table made here, when the stack is deleted. Default: they stay. CloudFormation deletes a bucket only once it is empty. */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Of bucket, table, queues and logs, those made here. The policy of an imported key must let CloudWatch Logs and EventBridge use it. Default: keys of AWS, at no cost.
   */
  readonly encryptionKey?: IKey;
  /** Default three months. */
  readonly logRetention?: RetentionDays;

  /** Is told when an alarm rings, and when it is over. By default nobody is. */
  readonly alarmTopic?: ITopic;
  /** Default true. */
  readonly dashboard?: boolean;
}

export const knownProps: readonly (keyof StreamPipelineProps)[] = [
  ...(["entry", "pipelineName", "kafka", "parameters", "policy", "memory", "fusedMemory", "architecture"] as const),
  ...(["triggerTopics", "batchingWindow", "heartbeat"] as const),
  ...(["vpc", "vpcSubnets", "securityGroups", "gatewayEndpoints"] as const),
  ...(["bucket", "table", "removalPolicy", "encryptionKey", "logRetention", "alarmTopic", "dashboard"] as const),
];
