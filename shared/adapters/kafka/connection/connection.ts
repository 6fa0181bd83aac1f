import { readFile } from "node:fs/promises";
import { UsageError } from "../../../errors.ts";
import type {
  KafkaConnectionSettings,
  KafkaSaslSettings,
  KafkaTlsSettings,
} from "../../../pipeline/connectors/kafka-connection.ts";
import { mskIamToken } from "./msk-iam.ts";
import { clientCredentials } from "./oauth.ts";

/** A text that is fetched each time that it is needed, and kept nowhere: a password, a private key. */
export type FetchText = () => Promise<string>;

/** TLS. What is fetched is in PEM. Without `ca` the authorities that the system trusts count. */
export interface KafkaTls {
  readonly ca?: FetchText;
  readonly certificate?: FetchText;
  readonly key?: FetchText;
  readonly passphrase?: FetchText;
  /** The name that brokers' certificates must have, where it is not the host's. */
  readonly servername?: string;
}

/** How we show brokers who we are. A token is fetched for each login, and must be valid for a while. */
export type KafkaSasl =
  | {
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      readonly username: FetchText;
      readonly password: FetchText;
    }
  | {
      readonly mechanism: "oauthbearer";
      readonly token: FetchText;
      readonly extensions?: Readonly<Record<string, string>>;
    };

/** A cluster, and how to get in. */
export interface KafkaConnection {
  /** `host:port` each; one that answers is enough to find the others. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
}

/** The connection of a bound description. Nothing is read or fetched yet. @throws UsageError `invalid-brokers` if none is named */
export function resolveConnection({ brokers, clientId, tls, sasl }: KafkaConnectionSettings): KafkaConnection {
  const addresses = brokers.flatMap((text) => String(text).split(",")).map((address) => address.trim());
  const named = addresses.filter((address) => address !== "");
  if (named.length === 0) {
    throw new UsageError("invalid-brokers", "The Kafka connection names no broker", {
      wayOut: "Write host:port, several with commas between them: broker-1:9092,broker-2:9092.",
    });
  }
  return {
    brokers: named,
    clientId: String(clientId),
    ...(tls === undefined ? {} : { tls: resolveTls(tls) }),
    ...(sasl === undefined ? {} : { sasl: resolveSasl(sasl) }),
  };
}

function resolveTls({ ca, certificate, key, passphrase, servername }: KafkaTlsSettings): KafkaTls {
  return {
    ...(ca === undefined ? {} : { ca: () => pem("ca", String(ca)) }),
    ...(certificate === undefined ? {} : { certificate: () => pem("certificate", String(certificate)) }),
    ...(key === undefined ? {} : { key: async () => pem("key", await key.reveal()) }),
    ...(passphrase === undefined ? {} : { passphrase: () => passphrase.reveal() }),
    ...(servername === undefined ? {} : { servername: String(servername) }),
  };
}

/** A text in PEM as it is, or what is in the file that it names. */
async function pem(option: string, given: string): Promise<string> {
  if (given.includes("-----BEGIN")) return given;
  try {
    return await readFile(given, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    // What was given may be a key that is not in PEM: it is not repeated, and the cause would.
    throw new UsageError("unreadable-pem", `The file that \`${option}\` of \`tls\` names cannot be read (${code})`, {
      wayOut: "Give its path, or the PEM text itself, which has a line -----BEGIN …-----.",
    });
  }
}

function resolveSasl(sasl: KafkaSaslSettings): KafkaSasl {
  if (sasl.mechanism === "aws-msk-iam") {
    return {
      mechanism: "oauthbearer",
      token: mskIamToken(sasl.region === undefined ? undefined : String(sasl.region)),
    };
  }
  if (sasl.mechanism !== "oauthbearer") {
    const { mechanism, username, password } = sasl;
    return { mechanism, username: () => username.reveal(), password: () => password.reveal() };
  }
  const { mechanism, extensions } = sasl;
  const token =
    "token" in sasl
      ? () => sasl.token.reveal()
      : clientCredentials({
          ...sasl,
          tokenEndpoint: String(sasl.tokenEndpoint),
          scope: sasl.scope === undefined ? undefined : String(sasl.scope),
        });
  return { mechanism, token, ...(extensions === undefined ? {} : { extensions }) };
}
