import { EpochflowError } from "../../../errors.ts";
import { KafkaError } from "../errors.ts";
import { type Address, formatAddress } from "./address.ts";

/** How far a connection had come when it failed. */
export type Stage = "connecting" | "authenticating" | "connected";

export interface Situation {
  readonly address: Address;
  readonly stage: Stage;
  readonly tls: boolean;
  readonly sasl: string | undefined;
}

/** A login that the broker has refused. The message holds no secret. */
export class LoginRefused extends Error {}

/**
 * Why a connection ended, for people.
 *
 * @param cause what the socket, the login or a function that fetches a secret threw; undefined if the broker just closed the connection
 */
export function connectionError(situation: Situation, cause: unknown): EpochflowError {
  if (cause instanceof EpochflowError) return cause;
  const broker = `Kafka broker ${formatAddress(situation.address)}`;
  const code = codeOf(cause);
  if (code !== undefined && code in unreachable) {
    return new KafkaError("UNREACHABLE", `${broker} cannot be reached: ${unreachable[code]} (${code})`, {
      wayOut:
        "Start it, or correct `brokers`; a broker that was reached by another address sends clients to its `advertised.listeners`.",
      cause,
    });
  }
  if (isTls(code)) return tlsError(broker, code, cause);
  if (situation.stage === "authenticating" && cause !== undefined) return authenticationError(situation, broker, cause);
  const reason = cause instanceof Error ? `the connection broke: ${cause.message}` : "it closed the connection";
  return new KafkaError("DISCONNECTED", `${broker}: ${reason}`, {
    ...(situation.stage === "connected" ? {} : { wayOut: wrongListener(situation) }),
    cause,
  });
}

export function timedOut({ address, stage }: Situation, what: string, timeoutMs: number): KafkaError {
  const message = `Kafka broker ${formatAddress(address)} has not answered ${what} within ${Math.round(timeoutMs)} ms`;
  const wayOut = "Check the network between here and there: routes, security groups, firewalls.";
  return new KafkaError("TIMED_OUT", message, stage === "connected" ? {} : { wayOut });
}

/** Of a socket's error. */
function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return undefined;
  return typeof cause.code === "string" ? cause.code : undefined;
}

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name cannot be looked up",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  ETIMEDOUT: "it does not answer",
};

/** Node's codes for TLS, and OpenSSL's for certificates: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const isTls = (code: string | undefined): boolean =>
  code !== undefined &&
  /^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|INVALID_CA|HOSTNAME_)|SIGNED_CERT/.test(code);

function tlsError(broker: string, code: string | undefined, cause: unknown): KafkaError {
  const reason = cause instanceof Error ? cause.message.trim() : "";
  return new KafkaError("TLS_FAILED", `TLS with ${broker} failed: ${reason} (${code})`, {
    wayOut: tlsWaysOut(code ?? ""),
    cause,
  });
}

function tlsWaysOut(code: string): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return "Connect by a name that is in the broker's certificate, or set `servername` of `tls`.";
  }
  if (/^ERR_OSSL/.test(code))
    return "Check that `certificate`, `key` and `passphrase` of `tls` are in PEM, and belong together.";
  if (/ALERT/.test(code)) return "Set `certificate` and `key` of `tls` to a client certificate that the broker trusts.";
  if (/^ERR_SSL|EPROTO/.test(code)) return "Check that the port is that of a TLS listener, or leave out `tls`.";
  return "Set `ca` of `tls` to the certificate of the authority that signed the broker's certificate.";
}

function authenticationError({ sasl }: Situation, broker: string, cause: unknown): KafkaError {
  const details = { wayOut: "Check user, password or token, and the mechanism, of `sasl`.", cause };
  if (cause instanceof LoginRefused || (cause instanceof Error && cause.name.startsWith("KafkaJS"))) {
    return new KafkaError(
      "AUTHENTICATION_FAILED",
      `${broker} refuses the login by SASL ${sasl}: ${cause.message}`,
      details,
    );
  }
  // The message of a function that fetches a secret may hold it.
  return new KafkaError("AUTHENTICATION_FAILED", `The secrets to log in to ${broker} could not be fetched`, details);
}

function wrongListener({ tls, sasl }: Situation): string {
  const given = [tls ? "TLS" : "no TLS", sasl === undefined ? "no SASL" : `SASL ${sasl}`].join(" and ");
  return `The connection is set to ${given}: check that the port is that of such a listener.`;
}
