import type { KafkaAccess } from "../composition/connector.ts";
import { clientSettings } from "../shared/adapters/aws/client-settings.ts";
import type { KafkaSasl, KafkaTls } from "../shared/adapters/kafka/connection/connection.ts";
import { mskIamToken } from "../shared/adapters/kafka/connection/msk-iam.ts";
import { once } from "./once.ts";
import { SecretTexts } from "./secret-texts.ts";

/**
 * How the functions get into the cluster of the parameter `brokers`, as the construct tells it in the environment: no secret, only where secrets are. Keys in them are those
 * that AWS's event source mappings know.
 */
export interface KafkaAccessSettings {
  readonly tls: boolean;
  /** ARN of a secret with `certificate`: who signed the brokers' certificates, where that is a private authority. */
  readonly ca?: string;
  /** ARN of a secret with `certificate`, `privateKey` and, for an encrypted key, `privateKeyPassword`. */
  readonly clientCertificate?: string;
  readonly sasl?:
    | { readonly mechanism: "aws-msk-iam"; readonly region: string }
    /** ARN of a secret with `username` and `password`. */
    | { readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512"; readonly secret: string };
}

/** Nothing is fetched yet: secrets are when a connection is made. */
export function kafkaAccessOf(settings: KafkaAccessSettings, secrets = awsSecrets()): Omit<KafkaAccess, "brokers"> {
  return {
    ...(settings.tls && { tls: tlsOf(settings, secrets) }),
    ...(settings.sasl && { sasl: saslOf(settings.sasl, secrets) }),
  };
}

function tlsOf({ ca, clientCertificate: own }: KafkaAccessSettings, secrets: SecretTexts): KafkaTls {
  return {
    ...(ca !== undefined && { ca: () => secrets.text(ca, "certificate") }),
    ...(own !== undefined && {
      certificate: () => secrets.text(own, "certificate"),
      key: () => secrets.text(own, "privateKey"),
      passphrase: () => secrets.optionalText(own, "privateKeyPassword"),
    }),
  };
}

function saslOf(sasl: NonNullable<KafkaAccessSettings["sasl"]>, secrets: SecretTexts): KafkaSasl {
  if (sasl.mechanism === "aws-msk-iam") return { mechanism: "oauthbearer", token: mskIamToken(sasl.region) };
  const { mechanism, secret } = sasl;
  return {
    mechanism,
    username: () => secrets.text(secret, "username"),
    password: () => secrets.text(secret, "password"),
  };
}

function awsSecrets(): SecretTexts {
  const client = once(async () => {
    const { SecretsManagerClient } = await import("@aws-sdk/client-secrets-manager");
    return new SecretsManagerClient(clientSettings());
  });
  return new SecretTexts(client);
}
