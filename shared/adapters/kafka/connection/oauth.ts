import { KafkaError } from "../errors.ts";
import type { FetchText } from "./connection.ts";

export interface ClientCredentials {
  readonly tokenEndpoint: string;
  readonly clientId: { reveal(): Promise<string> };
  readonly clientSecret: { reveal(): Promise<string> };
  readonly scope: string | undefined;
}

const timeoutMs = 10_000;
/** A token is used for so much of its life; then there is another one. */
const freshShare = 0.8;

/** Bearer tokens by the client credentials grant of OAuth 2 (RFC 6749, §4.4). Connections share a token while it is fresh. */
export function clientCredentials(credentials: ClientCredentials): FetchText {
  let token: Promise<string> | undefined;
  let freshUntil = 0;
  return () => {
    if (token === undefined || performance.now() >= freshUntil) {
      freshUntil = Number.POSITIVE_INFINITY;
      token = request(credentials).then(({ accessToken, lifetimeMs }) => {
        freshUntil = performance.now() + lifetimeMs * freshShare;
        return accessToken;
      });
      token.catch(() => {
        token = undefined;
      });
    }
    return token;
  };
}

async function request(credentials: ClientCredentials): Promise<{ accessToken: string; lifetimeMs: number }> {
  const { tokenEndpoint, scope } = credentials;
  const user = encodeURIComponent(await credentials.clientId.reveal());
  const password = encodeURIComponent(await credentials.clientSecret.reveal());
  const body = new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
  const response = await fetch(tokenEndpoint, {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
      accept: "application/json",
    },
    body,
    // A redirect would take the secret elsewhere.
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw failed(tokenEndpoint, "cannot be reached", error);
  });
  // What it answers may hold what it was asked with, or the token.
  if (!response.ok) throw failed(tokenEndpoint, `answers ${response.status}`);
  const answer: unknown = await response.json().catch(() => null);
  if (
    typeof answer !== "object" ||
    answer === null ||
    !("access_token" in answer) ||
    typeof answer.access_token !== "string"
  ) {
    throw failed(tokenEndpoint, "answers without an access_token");
  }
  // Without it, nobody knows how long it is good for: it is used once.
  const lifetime = "expires_in" in answer ? Number(answer.expires_in) : Number.NaN;
  return { accessToken: answer.access_token, lifetimeMs: Number.isFinite(lifetime) ? lifetime * 1_000 : 0 };
}

function failed(tokenEndpoint: string, problem: string, cause?: unknown): KafkaError {
  const { origin, pathname } = new URL(tokenEndpoint);
  return new KafkaError("AUTHENTICATION_FAILED", `The token endpoint ${origin}${pathname} ${problem}`, {
    wayOut: "Check `tokenEndpoint`, `clientId`, `clientSecret` and `scope` of `sasl`.",
    cause,
  });
}
