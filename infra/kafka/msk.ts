import { createRequire } from "node:module";
import { Stack } from "aws-cdk-lib";
import { type IConnectable, Port } from "aws-cdk-lib/aws-ec2";
import { SourceAccessConfigurationType } from "aws-cdk-lib/aws-lambda";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from "aws-cdk-lib/custom-resources";
import type { Construct } from "constructs";
import type { KafkaAccessSettings } from "../../functions/kafka-access.ts";
import { UsageError } from "../../shared/errors.ts";
import { checkOptions } from "../../shared/options.ts";
import { acknowledge, basicExecutionRole } from "../acknowledged.ts";
import type { FunctionName } from "../bundle.ts";
import { networkRight, type Right } from "../rights.ts";
import {
  type BoundCluster,
  type KafkaCluster,
  type MappingSource,
  type Network,
  type Placement,
  placementOf,
} from "./cluster.ts";
import { IamRights } from "./iam-rights.ts";
import { arnOf, brokersOf, type MskCluster } from "./msk-cluster.ts";
import { secretRights } from "./secrets.ts";
import type { KafkaUse } from "./use.ts";

export interface MskOptions extends Partial<Placement> {
  /**
   * Security groups of the brokers: the port is opened in them for the pipeline, and for Lambda's pollers, which lie in the same groups as the brokers. By default those
   * that the cluster tells of; an ARN tells of none.
   */
  readonly brokers?: IConnectable;
  /**
   * Whether this makes the rule by which the brokers' group lets itself in at the port, as Lambda's pollers need it. EC2 refuses a rule that there is already, so false if the group
   * has it: as where pipelines in two stacks import one group. Default true.
   */
  readonly selfIngress?: boolean;
  /**
   * A secret with `username` and `password`, for clusters with SASL/SCRAM. MSK wants a name that begins with `AmazonMSK_`, a key of your own, and that it is associated with the
   * cluster. The functions then need a way from the VPC to Secrets Manager: a NAT gateway or an interface endpoint. Default: access control by IAM.
   */
  readonly secret?: ISecret;
  /** `host:port`, with commas between several. By default MSK is asked, when the stack is deployed, for the brokers' private addresses. */
  readonly bootstrapServers?: string;
}

const require = createRequire(import.meta.url);
const signer = "aws-msk-iam-sasl-signer-js";

const known: readonly (keyof MskOptions)[] = [
  "vpc",
  "vpcSubnets",
  "brokers",
  "selfIngress",
  "secret",
  "bootstrapServers",
];

/** `Kafka.msk`. */
export function msk(cluster: MskCluster, options: MskOptions = {}): KafkaCluster {
  checkOptions("Kafka.msk()", options, known);
  const clusterArn = arnOf(cluster);
  return {
    placement: placementOf(options),
    unreachable: options.bootstrapServers === undefined ? withoutVpc : undefined,
    bind: (scope) => {
      const brokers = options.brokers ? [options.brokers] : brokersOf(cluster);
      return new BoundMsk(scope, clusterArn, brokers, options);
    },
  };
}

const withoutVpc = {
  message: "The brokers of Kafka.msk() are in a VPC, but none is given",
  wayOut: "Kafka.msk(cluster, { vpc }); or bootstrapServers, if they are reached over the internet.",
};

class BoundMsk implements BoundCluster {
  readonly bootstrapServers: string;
  readonly access: KafkaAccessSettings;
  readonly #clusterArn: string;
  readonly #brokers: readonly IConnectable[];
  readonly #selfIngress: boolean;
  readonly #secret: ISecret | undefined;
  readonly #iam: IamRights;

  constructor(scope: Construct, clusterArn: string, brokers: readonly IConnectable[], options: MskOptions) {
    const { secret, selfIngress = true } = options;
    if (secret === undefined) checkSigner();
    this.#clusterArn = clusterArn;
    this.#brokers = brokers;
    this.#selfIngress = selfIngress;
    this.#secret = secret;
    this.#iam = new IamRights(clusterArn);
    this.bootstrapServers = options.bootstrapServers ?? askMsk(scope, clusterArn, secret ? "SaslScram" : "SaslIam");
    this.access = {
      tls: true,
      sasl: secret
        ? { mechanism: "scram-sha-512", secret: secret.secretArn }
        : { mechanism: "aws-msk-iam", region: Stack.of(scope).region },
    };
  }

  openTo({ connections }: Network): void {
    const port = Port.tcp(this.#secret === undefined ? ports.iam : ports.scram);
    for (const brokers of this.#brokers) {
      // Said from this side, so that the rule is in the pipeline's stack, where the cluster is in another.
      connections.allowTo(brokers, port, "epochflow");
      if (this.#selfIngress) brokers.connections.allowInternally(port, "Pollers of Lambda, for epochflow");
    }
  }

  rightsOf(name: FunctionName, use: KafkaUse): Right[] {
    return this.#secret === undefined ? this.#iam.of(name, use) : secretRights([this.#secret]);
  }

  /** @see https://docs.aws.amazon.com/lambda/latest/dg/with-msk-permissions.html */
  pollerRights(groups: ReadonlyMap<string, string>): Right[] {
    const secret = this.#secret;
    const lists = secret === undefined ? [] : ["kafka:ListScramSecrets"];
    return [
      { actions: ["kafka:DescribeClusterV2", "kafka:GetBootstrapBrokers", ...lists], resources: [this.#clusterArn] },
      networkRight(),
      ...(secret === undefined ? this.#iam.ofPollers(groups) : secretRights([secret])),
    ];
  }

  mapping(): MappingSource {
    const uri = this.#secret?.secretArn;
    return {
      eventSourceArn: this.#clusterArn,
      ...(uri && {
        sourceAccessConfigurations: [{ type: SourceAccessConfigurationType.SASL_SCRAM_512_AUTH, uri }],
      }),
    };
  }
}

/** Of brokers within their VPC. @see https://docs.aws.amazon.com/msk/latest/developerguide/port-info.html */
const ports = { scram: 9096, iam: 9098 };

/** CloudFormation does not tell a cluster's addresses: a custom resource of the CDK asks for them. */
function askMsk(scope: Construct, clusterArn: string, kind: "SaslIam" | "SaslScram"): string {
  const field = `BootstrapBrokerString${kind}`;
  const resource = new AwsCustomResource(scope, "Brokers", {
    resourceType: "Custom::MskBrokers",
    onUpdate: {
      service: "Kafka",
      action: "GetBootstrapBrokers",
      parameters: { ClusterArn: clusterArn },
      physicalResourceId: PhysicalResourceId.of(field),
      outputPaths: [field],
    },
    policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: [clusterArn] }),
    // What Lambda's own runtime has does.
    installLatestAwsSdk: false,
  });
  const handler = `AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll("-", "")}`;
  acknowledge(Stack.of(scope).node.findChild(handler), basicExecutionRole);
  return resource.getResponseField(field);
}

/** The functions' bundle has it only if it is installed where the project is synthesized. */
function checkSigner(): void {
  try {
    require.resolve(signer);
  } catch (cause) {
    throw new UsageError("missing-package", `Access to MSK by IAM needs the package ${signer}`, {
      wayOut: `Install it: npm install ${signer}`,
      cause,
    });
  }
}
