import { Token } from "aws-cdk-lib";
import { type SourceAccessConfiguration, SourceAccessConfigurationType } from "aws-cdk-lib/aws-lambda";
import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { KafkaAccessSettings } from "../../functions/kafka-access.ts";
import { UsageError } from "../../shared/errors.ts";
import { checkOptions, didYouMean } from "../../shared/options.ts";
import { networkRight, type Right } from "../rights.ts";
import {
  type BoundCluster,
  type KafkaCluster,
  type MappingSource,
  type Network,
  type Placement,
  placementOf,
} from "./cluster.ts";
import { secretRights } from "./secrets.ts";

/** Names of SASL's mechanisms, and what Lambda's event source mappings call them. */
const mechanisms = {
  "scram-sha-512": SourceAccessConfigurationType.SASL_SCRAM_512_AUTH,
  "scram-sha-256": SourceAccessConfigurationType.SASL_SCRAM_256_AUTH,
  plain: SourceAccessConfigurationType.BASIC_AUTH,
} as const;

/**
 * With any of the secrets connections are by TLS, as Lambda's mappings want it. From a VPC, secrets take a NAT gateway or an interface endpoint of Secrets Manager.
 */
export interface SelfManagedOptions extends Partial<Placement> {
  /** `host:port`, several with commas between them or as a list; one that answers is enough to find the others. */
  readonly bootstrapServers: string | readonly string[];
  /** A secret with `username` and `password`, for SASL. */
  readonly secret?: ISecret;
  /** By which the password of `secret` is shown. Default `"scram-sha-512"`. */
  readonly mechanism?: keyof typeof mechanisms;
  /** For brokers that ask clients for a certificate: a secret with `certificate`, `privateKey` and, for an encrypted key, `privateKeyPassword`, in PEM. */
  readonly clientCertificate?: ISecret;
  /** A secret with `certificate`, in PEM: the authority that signed the brokers' certificates. By default those that AWS and Node trust. */
  readonly ca?: ISecret;
}

const known: readonly (keyof SelfManagedOptions)[] = [
  ...(["bootstrapServers", "vpc", "vpcSubnets", "secret", "mechanism", "clientCertificate", "ca"] as const),
];

/** `Kafka.selfManaged`. */
export function selfManaged(options: SelfManagedOptions): KafkaCluster {
  checkOptions("Kafka.selfManaged()", options, known);
  check(options);
  const { secret, clientCertificate } = options;
  return {
    placement: placementOf(options),
    unreachable: secret === undefined && clientCertificate === undefined ? withoutVpc : undefined,
    bind: () => new BoundSelfManaged(options),
  };
}

const withoutVpc = {
  message: "Brokers without secret or clientCertificate must be in a VPC, but none is given to Kafka.selfManaged()",
  wayOut: "Give it the vpc; over the internet Lambda polls only brokers that it logs in to.",
};

function check({ bootstrapServers, secret, mechanism, clientCertificate }: SelfManagedOptions): void {
  if (serversOf(bootstrapServers).length === 0)
    throw invalid("bootstrapServers of Kafka.selfManaged() must name a broker");
  if (secret && clientCertificate) throw invalid("Kafka.selfManaged() takes one of secret and clientCertificate");
  if (mechanism === undefined) return;
  const names = Object.keys(mechanisms);
  if (!names.includes(mechanism))
    throw invalid(
      `mechanism of Kafka.selfManaged() is ${JSON.stringify(mechanism)}, not one of ${names.join(", ")}.${didYouMean(mechanism, names)}`,
    );
  if (secret === undefined) throw invalid("mechanism of Kafka.selfManaged() needs a secret with username and password");
}

const invalid = (message: string) => new UsageError("invalid-option", message);

class BoundSelfManaged implements BoundCluster {
  readonly bootstrapServers: string;
  readonly access: KafkaAccessSettings;
  readonly #options: SelfManagedOptions;

  constructor(options: SelfManagedOptions) {
    const { bootstrapServers, secret, mechanism = "scram-sha-512", clientCertificate, ca } = options;
    this.#options = options;
    this.bootstrapServers = serversOf(bootstrapServers).join(",");
    this.access = {
      tls: [secret, clientCertificate, ca].some((given) => given !== undefined),
      ...(ca && { ca: ca.secretArn }),
      ...(clientCertificate && { clientCertificate: clientCertificate.secretArn }),
      ...(secret && { sasl: { mechanism, secret: secret.secretArn } }),
    };
  }

  /** Nobody has told of the brokers' groups: `group.connections.allowFrom(pipeline, …)` is for those who know. */
  openTo(): void {}

  rightsOf(): Right[] {
    const { secret, clientCertificate, ca } = this.#options;
    return secretRights([secret, clientCertificate, ca]);
  }

  pollerRights(_: ReadonlyMap<string, string>, network: Network | undefined): Right[] {
    return [...this.rightsOf(), ...(network ? [networkRight()] : [])];
  }

  mapping(network: Network | undefined): MappingSource {
    const { bootstrapServers, secret, mechanism = "scram-sha-512", clientCertificate, ca } = this.#options;
    const type = SourceAccessConfigurationType;
    const access: SourceAccessConfiguration[] = [
      ...(secret ? [{ type: mechanisms[mechanism], uri: secret.secretArn }] : []),
      ...(clientCertificate ? [{ type: type.CLIENT_CERTIFICATE_TLS_AUTH, uri: clientCertificate.secretArn }] : []),
      ...(ca ? [{ type: type.SERVER_ROOT_CA_CERTIFICATE, uri: ca.secretArn }] : []),
      ...(network ? placesIn(network) : []),
    ];
    return { kafkaBootstrapServers: serversOf(bootstrapServers), sourceAccessConfigurations: access };
  }
}

/** Where Lambda's pollers lie: where the functions do. */
function placesIn({ vpc, vpcSubnets, securityGroups }: Network): SourceAccessConfiguration[] {
  const { VPC_SUBNET, VPC_SECURITY_GROUP } = SourceAccessConfigurationType;
  const { subnetIds } = vpc.selectSubnets(vpcSubnets);
  return [
    ...subnetIds.map((uri) => ({ type: VPC_SUBNET, uri })),
    ...securityGroups.map(({ securityGroupId: uri }) => ({ type: VPC_SECURITY_GROUP, uri })),
  ];
}

/** A list as it is; a text cut at its commas, unless it is known only when the stack is deployed. */
function serversOf(given: string | readonly string[]): string[] {
  const texts = typeof given === "string" ? [given] : [...(given ?? [])];
  const servers = texts.flatMap((text) => (Token.isUnresolved(text) ? [text] : String(text).split(",")));
  return servers.map((server) => server.trim()).filter((server) => server !== "");
}
