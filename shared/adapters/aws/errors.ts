import { EpochflowError, InfrastructureError } from "../../errors.ts";

interface Meaning {
  readonly code: string;
  readonly what: string;
  readonly wayOut: string;
}

const forbidden: Meaning = {
  code: "not-permitted",
  what: "this is not permitted",
  wayOut: "Check the credentials and the role's policy; a deployment with `StreamPipeline` grants what is needed.",
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
  [
    /AccessDenied|NotAuthorized|ExpiredToken|UnrecognizedClient|InvalidSignature|InvalidAccessKeyId|Credentials/,
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

/**
 * An error of an AWS client as one of ours, which is tried again later: `not-permitted`, `resource-missing`, `throttled`, `unreachable`, else
 * `aws-service`. What it was asked for may have been done or not.
 *
 * @param doing what was tried, and where: "write the ledger in table t"
 */
export function awsError(error: unknown, doing: string): EpochflowError {
  if (error instanceof EpochflowError) return error;
  const name = nameOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const found = meanings.find(([names]) => names.test(`${name} ${statusOf(error) === undefined ? text : ""}`))?.[1];
  const { code, what, wayOut } = found ?? { code: "aws-service", what: text, wayOut: undefined };
  return new InfrastructureError(code, `Cannot ${doing}: ${what} (${name})`, {
    ...(wayOut === undefined ? {} : { wayOut }),
    cause: error,
  });
}
