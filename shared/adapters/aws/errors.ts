import { EpochflowError, InfrastructureError } from "../../errors.ts";

interface Meaning {
  readonly code: string;
  readonly what: string;
  readonly wayOut: string;
}

const forbidden: Meaning = {
  code: "not-permitted",
  what: "this is not permitted",
  wayOut:
    "Check the credentials and their policy. `StreamPipeline` grants its functions what they need; docs/deploy.md lists what people need.",
};
const expired: Meaning = {
  code: "credentials-expired",
  what: "the credentials have expired",
  wayOut: "Get new ones: sign in again, by `aws sso login` or as you did before.",
};
const missing: Meaning = {
  code: "resource-missing",
  what: "it does not exist",
  wayOut: "Check the name and the region. Was it deleted? Deploy the stack again, or restore it from a backup.",
};
const throttled: Meaning = {
  code: "throttled",
  what: "the service asks for fewer requests",
  wayOut: "It is tried again by itself. If it lasts, look at the account's quotas.",
};
const unreachable: Meaning = {
  code: "unreachable",
  what: "there was no answer",
  wayOut: "Check the network: in a VPC without internet access the service needs an endpoint.",
};

const meanings: readonly (readonly [names: RegExp, meaning: Meaning])[] = [
  [/ExpiredToken|RequestExpired/, expired],
  [
    /AccessDenied|NotAuthorized|UnrecognizedClient|InvalidSignature|InvalidClientTokenId|InvalidAccessKeyId|Credentials/,
    forbidden,
  ],
  [/ResourceNotFound|NoSuchBucket|StateMachineDoesNotExist/, missing],
  [/Throttl|ThroughputExceeded|RequestLimitExceeded|SlowDown|TooManyRequests/, throttled],
  [/Timeout|ECONN|ENOTFOUND|EPIPE|EAI_AGAIN|socket/i, unreachable],
];

/** The name that AWS or Node gave to an error: `ConditionalCheckFailedException`, `ECONNRESET`. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" && error.name === "Error" ? error.code : error.name;
}

export function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && "$metadata" in error ? error.$metadata : undefined;
  return (metadata as { httpStatusCode?: number } | undefined)?.httpStatusCode;
}

/** The action that a policy lacks, as IAM names it in most messages: `dynamodb:GetItem`. */
function deniedAction(text: string): string | undefined {
  return /not authorized to perform: ([\w-]+:\w+)/.exec(text)?.[1];
}

/**
 * An error of an AWS client as one of ours, which is tried again later: `not-permitted`, `credentials-expired`, `resource-missing`, `throttled`, `unreachable`,
 * else `aws-service`. What it was asked for may have been done or not.
 *
 * @param doing what was tried, and where: "write the ledger in table t"
 * @param action what IAM calls it, for answers that do not say
 */
export function awsError(error: unknown, doing: string, action?: string): EpochflowError {
  if (error instanceof EpochflowError) return error;
  const status = statusOf(error);
  const name = nameOf(error) === "Unknown" ? `HTTP ${status}` : nameOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const known = meanings.find(([names]) => names.test(`${name} ${status === undefined ? text : ""}`))?.[1];
  // The answer to a HEAD request has no name.
  const found = known ?? (status === 403 ? forbidden : undefined);
  const { code, what, wayOut } = found ?? { code: "aws-service", what: text, wayOut: undefined };
  const denied = found === forbidden ? (deniedAction(text) ?? action) : undefined;
  const reason = denied === undefined ? name : `${name}: ${denied}`;
  return new InfrastructureError(code, `Cannot ${doing}: ${what} (${reason})`, {
    ...(wayOut === undefined ? {} : { wayOut }),
    cause: error,
  });
}
