import type { Connections, ISecurityGroup, IVpc, SubnetSelection } from "aws-cdk-lib/aws-ec2";
import type { SourceAccessConfiguration } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { KafkaAccessSettings } from "../../functions/kafka-access.ts";
import type { FunctionName } from "../bundle.ts";
import type { Right } from "../rights.ts";
import type { KafkaUse } from "./use.ts";

/** Where brokers are reached. */
export interface Placement {
  readonly vpc: IVpc;
  /** By default the VPC's private subnets. Public ones have to be named: a function has no public address in them. */
  readonly vpcSubnets?: SubnetSelection;
}

/** Functions and what polls for them, in a VPC. */
export interface Network extends Placement {
  readonly securityGroups: readonly ISecurityGroup[];
  readonly connections: Connections;
}

/** A cluster as `kafka` of StreamPipeline takes it. Made by `Kafka.msk` or `Kafka.selfManaged`. */
export interface KafkaCluster {
  /** Where it says itself where its brokers are reached. */
  readonly placement: Placement | undefined;
  /** What is amiss if the pipeline has no VPC either; absent where brokers may be reached over the internet. */
  readonly unreachable: { readonly message: string; readonly wayOut: string } | undefined;
  /** Called by StreamPipeline, with itself. */
  bind(scope: Construct): BoundCluster;
}

/** What StreamPipeline needs to know of a cluster. */
export interface BoundCluster {
  /** `host:port`, with commas between several. */
  readonly bootstrapServers: string;
  readonly access: KafkaAccessSettings;
  /** Lets the functions, and the pollers of event source mappings, through the cluster's security groups. */
  openTo(network: Network): void;
  /** Of a function that talks to brokers. */
  rightsOf(name: FunctionName, use: KafkaUse): Right[];
  /** Of `trigger`, whose role is also that of the pollers. @param groups their consumer groups, by topic */
  pollerRights(groups: ReadonlyMap<string, string>, network: Network | undefined): Right[];
  /** Of an event source mapping. */
  mapping(network: Network | undefined): MappingSource;
}

export interface MappingSource {
  readonly eventSourceArn?: string;
  readonly kafkaBootstrapServers?: string[];
  readonly sourceAccessConfigurations?: SourceAccessConfiguration[];
}

export const placementOf = ({ vpc, vpcSubnets }: Partial<Placement>): Placement | undefined =>
  vpc && { vpc, ...(vpcSubnets && { vpcSubnets }) };

/** Functions that talk to brokers. The others, of which `trigger` must, lie outside the VPC (protocol §6). */
export const talkingToBrokers: ReadonlySet<FunctionName> = new Set(["plan", "fused", "operate", "commit"]);
