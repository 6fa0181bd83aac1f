import type { IncomingHttpHeaders } from "node:http";

/** A request to AWS, as a proxy sees it. */
export interface AwsRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** "GetItem", "StartExecution"; undefined for S3, which has no such header. */
export function operationOf({ headers }: AwsRequest): string | undefined {
  return String(headers["x-amz-target"] ?? "").split(".")[1];
}

/** A service that wants fewer requests. */
export function throttled(request: AwsRequest): Answer {
  const operation = operationOf(request);
  if (operation === undefined) return xml(503, "SlowDown", "Please reduce your request rate.");
  return json(400, operation.includes("Execution") ? "ThrottlingException" : "ProvisionedThroughputExceededException");
}

export function broken(request: AwsRequest): Answer {
  if (operationOf(request) === undefined) return xml(500, "InternalError", "We encountered an internal error.");
  return json(500, "InternalServerError");
}

/** Another request was at the same item or object; undefined where that cannot be. */
export function conflict(request: AwsRequest): Answer | undefined {
  const operation = operationOf(request);
  if (operation === undefined)
    return request.headers["if-none-match"] === undefined
      ? undefined
      : xml(
          409,
          "ConditionalRequestConflict",
          "A conflicting conditional operation is in progress against this resource.",
        );
  if (operation === "PutItem") return json(400, "TransactionConflictException");
  if (operation !== "TransactWriteItems" && operation !== "TransactGetItems") return undefined;
  const { TransactItems } = JSON.parse(request.body.toString());
  const reasons = TransactItems.map((_: unknown, index: number) => ({
    Code: index === 0 ? "TransactionConflict" : "None",
  }));
  return json(400, "TransactionCanceledException", { CancellationReasons: reasons });
}

function json(status: number, name: string, more: object = {}): Answer {
  const body = JSON.stringify({ __type: `com.amazonaws.service#${name}`, message: "injected", ...more });
  return { status, type: "application/x-amz-json-1.0", body };
}

function xml(status: number, code: string, message: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, type: "application/xml", body };
}
