import {
  Connections,
  GatewayVpcEndpointAwsService,
  type IConnectable,
  type IVpc,
  SecurityGroup,
} from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";
import { UsageError } from "../shared/errors.ts";
import type { Network } from "./kafka/cluster.ts";
import type { StreamPipelineProps } from "./props.ts";

/** Those that say where the functions lie. */
type Props = Pick<StreamPipelineProps, "kafka" | "vpc" | "vpcSubnets" | "securityGroups" | "gatewayEndpoints">;

/**
 * Where the functions lie that talk to brokers, and Lambda's pollers: in the pipeline's own VPC, or else the cluster's; undefined: in none.
 *
 * @throws UsageError `missing-vpc`
 */
export function networkOf(scope: Construct, props: Props): Network | undefined {
  const { vpc, vpcSubnets } = props.vpc ? props : { ...props.kafka?.placement, ...subnetsOf(props) };
  if (vpc === undefined) {
    checkNoNetwork(props);
    return undefined;
  }
  if (props.gatewayEndpoints) addGatewayEndpoints(vpc);
  const securityGroups = props.securityGroups ?? [new SecurityGroup(scope, "SecurityGroup", { vpc })];
  return {
    vpc,
    ...(vpcSubnets && { vpcSubnets }),
    securityGroups,
    connections: new Connections({ securityGroups: [...securityGroups] }),
  };
}

const subnetsOf = ({ vpcSubnets }: Props) => vpcSubnets && { vpcSubnets };

function checkNoNetwork(props: Props): void {
  const { unreachable } = props.kafka ?? {};
  if (unreachable) throw new UsageError("missing-vpc", unreachable.message, { wayOut: unreachable.wayOut });
  const idle = (["vpcSubnets", "securityGroups", "gatewayEndpoints"] as const).find((name) => props[name]);
  if (idle) throw new UsageError("missing-vpc", `${idle} of StreamPipeline needs a vpc`);
}

/** Without a NAT gateway they are the way to bucket and table, and cost nothing. Pipelines that share a VPC share them. */
function addGatewayEndpoints(vpc: IVpc): void {
  const services = { S3: GatewayVpcEndpointAwsService.S3, DynamoDb: GatewayVpcEndpointAwsService.DYNAMODB };
  for (const [name, service] of Object.entries(services)) {
    const id = `Epochflow${name}Endpoint`;
    if (!vpc.node.tryFindChild(id)) vpc.addGatewayEndpoint(id, { service });
  }
}

/** @throws UsageError `missing-vpc` for functions that are in none, as CDK's own functions do */
export function connectionsOf(network: Network | undefined): IConnectable["connections"] {
  if (network) return network.connections;
  throw new UsageError("missing-vpc", "The pipeline lies in no VPC, and so has no connections", {
    wayOut: "Give StreamPipeline a vpc, or a cluster that is reached in one.",
  });
}
