import { Token } from "aws-cdk-lib";
import { type IConnectable, type ISecurityGroup, SecurityGroup } from "aws-cdk-lib/aws-ec2";
import type { CfnCluster, CfnServerlessCluster } from "aws-cdk-lib/aws-msk";
import type { Construct } from "constructs";
import { UsageError } from "../../shared/errors.ts";

/** A cluster of `aws-cdk-lib/aws-msk`, of `@aws-cdk/aws-msk-alpha` (or anything with an ARN like it), or an ARN. */
export type MskCluster =
  | CfnCluster
  | CfnServerlessCluster
  | ({ readonly clusterArn: string } & Partial<IConnectable>)
  | string;

/** @throws UsageError `invalid-option` */
export function arnOf(cluster: MskCluster): string {
  const arn = typeof cluster === "object" && cluster ? arnIn(cluster) : cluster;
  if (typeof arn === "string" && (Token.isUnresolved(arn) || /^arn:[^:]+:kafka:.*:cluster\//.test(arn))) return arn;
  const given = typeof arn === "string" ? `, but "${arn}" is no ARN of one` : "";
  throw new UsageError("invalid-option", `Kafka.msk() needs a cluster of MSK${given}`, {
    wayOut: "Give a cluster of aws-cdk-lib/aws-msk or of @aws-cdk/aws-msk-alpha, or its ARN.",
  });
}

const arnIn = (cluster: Exclude<MskCluster, string>): string =>
  "clusterArn" in cluster ? cluster.clusterArn : cluster.attrArn;

/** The brokers' security groups, as far as the cluster tells them. */
export function brokersOf(cluster: MskCluster): IConnectable[] {
  if (typeof cluster === "string") return [];
  return "clusterArn" in cluster ? connectionsOf(cluster) : groupsOf(cluster).map((id, at) => groupOf(cluster, id, at));
}

/** The same for all pipelines: a rule that is made twice is refused. */
function groupOf(cluster: Construct, id: string, at: number): IConnectable {
  const name = `EpochflowGroup${at}`;
  const known = cluster.node.tryFindChild(name) as ISecurityGroup | undefined;
  return known ?? SecurityGroup.fromSecurityGroupId(cluster, name, id);
}

function connectionsOf(cluster: Partial<IConnectable>): IConnectable[] {
  try {
    return cluster.connections === undefined ? [] : [{ connections: cluster.connections }];
  } catch {
    return []; // a cluster that was imported without its groups throws
  }
}

/** None where they are a token as a whole. */
function groupsOf(cluster: CfnCluster | CfnServerlessCluster): readonly string[] {
  const nodes = "brokerNodeGroupInfo" in cluster ? [cluster.brokerNodeGroupInfo] : cluster.vpcConfigs;
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node) => ("securityGroups" in node ? (node.securityGroups ?? []) : []));
}
