import { type AwsRequest, operationOf } from "../emulator/aws-answers.ts";
import { anyAccount } from "../emulator/emulator.ts";

/** An action that a request is refused without, as IAM sees it. */
export interface Need {
  readonly action: string;
  /** An ARN. */
  readonly resource: string;
  /** Condition keys that the request has. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

/** The emulator's. */
export const account = "000000000000";
export const tableArn = (table: string) => `arn:aws:dynamodb:${anyAccount.region}:${account}:table/${table}`;
export const bucketArn = (bucket: string) => `arn:aws:s3:::${bucket}`;

/**
 * What a client's request needs, of the ones that functions make; what else comes needs an action that nobody may.
 *
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
 */
export function needsOf(request: AwsRequest): Need[] {
  const operation = operationOf(request);
  if (operation === undefined) return needsOfS3(request);
  const [service = ""] = String(request.headers["x-amz-target"]).split(".");
  const input = JSON.parse(request.body.toString());
  if (service.startsWith("DynamoDB")) return needsOfTable(operation, input);
  if (service === "AWSStepFunctions") return [need(`states:${operation}`, input.executionArn ?? input.stateMachineArn)];
  if (service === "secretsmanager") return [need(`secretsmanager:${operation}`, input.SecretId)];
  return [unknown(request)];
}

const need = (action: string, resource: string, keys: Need["keys"] = {}): Need => ({ action, resource, keys });
const unknown = ({ method, url, headers }: AwsRequest) =>
  need("unknown", `${method} ${url} ${headers["x-amz-target"]}`);

/** An item, or the key of one, of a table that has the ledger's keys. */
type Keyed = { readonly pk: { readonly S: string } };
type OnItem = { readonly TableName: string; readonly Key?: Keyed; readonly Item?: Keyed };

// biome-ignore lint/suspicious/noExplicitAny: any operation's
function needsOfTable(operation: string, input: any): Need[] {
  const on = (action: string, table: string, pk: string) =>
    need(`dynamodb:${action}`, tableArn(table), { "dynamodb:LeadingKeys": [pk] });
  const onItem = (action: string, { TableName, Key, Item }: OnItem) => on(action, TableName, (Key ?? Item)!.pk.S);
  if (operation.startsWith("Transact"))
    return (input.TransactItems as Record<string, OnItem>[]).flatMap((item) =>
      Object.entries(item).map(([kind, one]) => onItem(`${kind}Item`, one)),
    );
  if (operation === "BatchWriteItem")
    return Object.entries<Record<string, Omit<OnItem, "TableName">>[]>(input.RequestItems).flatMap(
      ([table, requests]) =>
        requests.flatMap(Object.values).map((one) => onItem(operation, { TableName: table, ...one })),
    );
  if (input.Key ?? input.Item) return [onItem(operation, input)];
  if (operation !== "Query") return [need("unknown", operation)];
  const [, variable] = /\bpk = (:\w+)/.exec(input.KeyConditionExpression)!;
  return [on(operation, input.TableName, input.ExpressionAttributeValues[variable!].S)];
}

/** Of S3: by the path's style, which clients have for addresses. */
function needsOfS3(request: AwsRequest): Need[] {
  const { pathname, searchParams: query } = new URL(request.url, "http://s3");
  const [, bucket = "", ...rest] = pathname.split("/").map(decodeURIComponent);
  const key = rest.join("/");
  return (key === "" ? needsOfBucket : needsOfObject)(request, query, bucketArn(bucket), key) ?? [unknown(request)];
}

type NeedsOfS3 = (request: AwsRequest, query: URLSearchParams, bucket: string, key: string) => Need[] | undefined;

const needsOfBucket: NeedsOfS3 = ({ method, body }, query, bucket) => {
  if (method === "POST" && query.has("delete"))
    return [...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) =>
      need("s3:DeleteObject", `${bucket}/${key}`),
    );
  if (method !== "GET") return undefined;
  if (query.has("lifecycle")) return [need("s3:GetLifecycleConfiguration", bucket)];
  if (query.has("uploads")) return [need("s3:ListBucketMultipartUploads", bucket)];
  return query.has("list-type") ? [listing(bucket, query.get("prefix") ?? "")] : undefined;
};

/** Query parameters of requests for an object that are known here. */
const known = new Set(["x-id", "uploads", "uploadId", "partNumber", "versionId"]);

const needsOfObject: NeedsOfS3 = ({ method, headers }, query, bucket, key) => {
  if ([...query.keys()].some((name) => !known.has(name)) || headers["x-amz-copy-source"]) return undefined;
  const object = `${bucket}/${key}`;
  const ofVersion = query.has("versionId") ? "Version" : "";
  // Without the right to list it, S3 says "forbidden" of a key that is not there; the key is what IAM takes for the prefix then.
  if ((method === "GET" || method === "HEAD") && !query.has("uploadId"))
    return [need(`s3:GetObject${ofVersion}`, object), listing(bucket, key)];
  const ifMatch = headers["if-match"] === undefined ? [] : [need("s3:GetObject", object)];
  if (method === "PUT" || method === "POST") return [need("s3:PutObject", object), ...ifMatch];
  if (method !== "DELETE") return undefined;
  return [need(query.has("uploadId") ? "s3:AbortMultipartUpload" : `s3:DeleteObject${ofVersion}`, object), ...ifMatch];
};

const listing = (bucket: string, prefix: string) => need("s3:ListBucket", bucket, { "s3:prefix": [prefix] });
