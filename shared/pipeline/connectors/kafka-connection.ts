import { UsageError } from "../../errors.ts";
import { checkOptions, didYouMean } from "../../options.ts";
import { checkFunction } from "../checks.ts";
import { type OrParameter, parameter } from "../parameter.ts";
import { Secret, type SecretOption } from "../secret.ts";
import { checkText } from "../source-options.ts";

/** TLS. Certificates and keys are texts in PEM, or paths of files with them. */
export interface KafkaTlsOptions {
  /** Who signed the brokers' certificates; without it the authorities that the system trusts. */
  readonly ca?: OrParameter<string>;
  /** For brokers that ask clients for a certificate, with its `key`. */
  readonly certificate?: OrParameter<string>;
  readonly key?: SecretOption;
  /** Of an encrypted key. */
  readonly passphrase?: SecretOption;
  /** The name that brokers' certificates must have, where it is not the one they are reached by. */
  readonly servername?: OrParameter<string>;
}

export interface KafkaPasswordOptions {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: SecretOption;
  readonly password: SecretOption;
}

/** A bearer token: by a function that gets one, which is called for each connection; or from an OAuth 2 server, for a client id and secret. */
export type KafkaOauthOptions = {
  readonly mechanism: "oauthbearer";
  /** SASL extensions, as some providers want them: `{ logicalCluster: "lkc-1" }`. */
  readonly extensions?: Readonly<Record<string, string>>;
} & (
  | { readonly token: () => string | Promise<string> }
  | {
      readonly tokenEndpoint: OrParameter<string>;
      readonly clientId: SecretOption;
      readonly clientSecret: SecretOption;
      readonly scope?: OrParameter<string>;
    }
);

/** AWS's own for MSK: signed by the credentials of the surroundings (role, profile, environment). */
export interface KafkaMskIamOptions {
  readonly mechanism: "aws-msk-iam";
  /** Default: the environment variable AWS_REGION. */
  readonly region?: OrParameter<string>;
}

export type KafkaSaslOptions = KafkaPasswordOptions | KafkaOauthOptions | KafkaMskIamOptions;

export interface KafkaConnectionOptions {
  /** `host:port`, with commas between several, or a list; one that answers is enough to find the others. */
  readonly brokers: OrParameter<string> | readonly OrParameter<string>[];
  /** What brokers log, and count quotas, by; default "epochflow". */
  readonly clientId?: OrParameter<string>;
  /** `true`: with the authorities that the system trusts; `false`, as without it: in plain text. */
  readonly tls?: boolean | KafkaTlsOptions;
  readonly sasl?: KafkaSaslOptions;
}

/** A cluster as data, made by `kafka.connection`. Secrets are references until a connection is made. */
export interface KafkaConnectionSettings {
  readonly brokers: readonly OrParameter<string>[];
  readonly clientId: OrParameter<string>;
  readonly tls?: KafkaTlsSettings;
  readonly sasl?: KafkaSaslSettings;
}

export interface KafkaTlsSettings {
  readonly ca?: OrParameter<string>;
  readonly certificate?: OrParameter<string>;
  readonly key?: Secret;
  readonly passphrase?: Secret;
  readonly servername?: OrParameter<string>;
}

export type KafkaSaslSettings =
  | {
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      readonly username: Secret;
      readonly password: Secret;
    }
  | {
      readonly mechanism: "oauthbearer";
      readonly token: Secret;
      readonly extensions?: Readonly<Record<string, string>>;
    }
  | {
      readonly mechanism: "oauthbearer";
      readonly tokenEndpoint: OrParameter<string>;
      readonly clientId: Secret;
      readonly clientSecret: Secret;
      readonly scope?: OrParameter<string>;
      readonly extensions?: Readonly<Record<string, string>>;
    }
  | { readonly mechanism: "aws-msk-iam"; readonly region?: OrParameter<string> };

const made = new WeakSet<KafkaConnectionSettings>();

/** The connection of sources and sinks that name none. */
const defaultConnection = connection({ brokers: parameter("brokers") });

/** @throws UsageError for an option that is unknown or not allowed */
export function connection(given: KafkaConnectionOptions): KafkaConnectionSettings {
  checkOptions("kafka.connection()", given, ["brokers", "clientId", "tls", "sasl"]);
  const { brokers, clientId = "epochflow", tls, sasl } = given;
  const list = (Array.isArray(brokers) ? brokers : [brokers]).map((each) =>
    checkText("brokers of kafka.connection()", each),
  );
  if (list.length === 0) throw new UsageError("invalid-option", "brokers of kafka.connection() must name a broker");
  const settings: KafkaConnectionSettings = {
    brokers: list,
    clientId: checkText("clientId of kafka.connection()", clientId),
    ...(tls === undefined || tls === false ? {} : { tls: tls === true ? {} : tlsSettings(tls) }),
    ...(sasl === undefined ? {} : { sasl: saslSettings(sasl) }),
  };
  made.add(settings);
  return settings;
}

/** @throws UsageError `invalid-option` */
export function checkConnection(what: string, given: KafkaConnectionSettings | undefined): KafkaConnectionSettings {
  if (given === undefined) return defaultConnection;
  if (made.has(given)) return given;
  throw new UsageError("invalid-option", `connection of ${what} must be made by kafka.connection({ brokers: … })`);
}

function tlsSettings(given: KafkaTlsOptions): KafkaTlsSettings {
  checkOptions("tls of kafka.connection()", given, ["ca", "certificate", "key", "passphrase", "servername"]);
  if ((given.certificate === undefined) !== (given.key === undefined)) {
    throw new UsageError("invalid-option", "tls of kafka.connection() takes certificate and key together");
  }
  return {
    ...texts("tls", given, ["ca", "certificate", "servername"]),
    ...secrets("tls", given, ["key", "passphrase"]),
  };
}

const optionsOf = {
  plain: ["username", "password"],
  "scram-sha-256": ["username", "password"],
  "scram-sha-512": ["username", "password"],
  oauthbearer: ["token", "tokenEndpoint", "clientId", "clientSecret", "scope", "extensions"],
  "aws-msk-iam": ["region"],
} as const;

function saslSettings(given: KafkaSaslOptions): KafkaSaslSettings {
  const mechanism = given?.mechanism;
  if (!Object.hasOwn(optionsOf, mechanism)) {
    const names = Object.keys(optionsOf);
    throw new UsageError(
      "invalid-option",
      `sasl has no mechanism ${JSON.stringify(mechanism)}.${didYouMean(String(mechanism), names)}`,
      {
        wayOut: `Mechanisms: ${names.join(", ")}.`,
      },
    );
  }
  checkOptions(`sasl of kafka.connection() by ${mechanism}`, given, ["mechanism", ...optionsOf[mechanism]]);
  if (given.mechanism === "oauthbearer") return oauthSettings(given);
  if (given.mechanism === "aws-msk-iam") return { mechanism: given.mechanism, ...texts("sasl", given, ["region"]) };
  return {
    mechanism: given.mechanism,
    username: Secret.of("username of sasl", given.username),
    password: Secret.of("password of sasl", given.password),
  };
}

function oauthSettings(given: KafkaOauthOptions): KafkaSaslSettings {
  const { mechanism, extensions } = given;
  const common = { mechanism, ...(extensions === undefined ? {} : { extensions: checkExtensions(extensions) }) };
  if ("token" in given) {
    checkFunction("token of sasl", given.token);
    checkOptions("sasl with a token function", given, ["mechanism", "token", "extensions"]);
    return { ...common, token: Secret.of("token of sasl", given.token) };
  }
  return {
    ...common,
    tokenEndpoint: checkText("tokenEndpoint of sasl, without a token function,", given.tokenEndpoint),
    clientId: Secret.of("clientId of sasl", given.clientId),
    clientSecret: Secret.of("clientSecret of sasl", given.clientSecret),
    ...texts("sasl", given, ["scope"]),
  };
}

/** Names and values as RFC 7628 allows them. */
function checkExtensions(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (/^[A-Za-z]+$/.test(name) && name !== "auth" && /^[\t\r\n\x20-\x7e]*$/.test(value)) continue;
    throw new UsageError("invalid-option", `extensions of sasl: "${name}" is no extension, or has no text in ASCII`);
  }
  return given;
}

function texts<Name extends string>(
  where: string,
  given: { readonly [Each in Name]?: OrParameter<string> },
  names: readonly Name[],
): { [Each in Name]?: OrParameter<string> } {
  const present = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, checkText(`${name} of ${where}`, given[name])])) as {
    [Each in Name]?: OrParameter<string>;
  };
}

function secrets<Name extends string>(
  where: string,
  given: { readonly [Each in Name]?: SecretOption },
  names: readonly Name[],
): { [Each in Name]?: Secret } {
  const present = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, Secret.of(`${name} of ${where}`, given[name])])) as {
    [Each in Name]?: Secret;
  };
}
