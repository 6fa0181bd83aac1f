/** Names, for people, of what a request was for. */

/** A request to S3, by its method and the kind of its object. */
export function whatOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, "http://s3");
  const [, , key = ""] = /^\/([^/]*)\/?(.*)$/.exec(pathname) ?? [];
  if (key === "") return `${method} of the bucket${queryOf(searchParams)}`;
  return `${method} ${kindOf(decodeURIComponent(key))}${queryOf(searchParams)}`;
}

function queryOf(parameters: URLSearchParams): string {
  const named = ["list-type", "uploads", "uploadId", "lifecycle", "delete"].find((name) => parameters.has(name));
  return named === undefined ? "" : ` (${named})`;
}

function kindOf(key: string): string {
  const [, extension] = /\.(snapshot|shuffle|staged)$/.exec(key) ?? [];
  if (extension) return extension;
  if (key.includes("/ledger/")) return "long row";
  const [, folder] = /\/\.epochflow\/([a-z]+)/.exec(key) ?? [];
  return folder ?? "output";
}

// biome-ignore lint/suspicious/noExplicitAny: requests of DynamoDB's interface
type Request = any;

/** The kinds of rows that a request to DynamoDB is about: `EPOCH`, `ACK`; `check WAKE` for one that is only looked at. */
export function rowsIn(operation: string, request: Request): string {
  switch (operation) {
    case "GetItem":
      return rowKind(request.Key.sk.S);
    case "Query":
      return `${rowKind(request.ExpressionAttributeValues?.[":from"]?.S ?? "")}…`;
    case "PutItem":
      return rowKind(request.Item.sk.S);
    case "TransactGetItems":
      return request.TransactItems.map(({ Get }: Request) => rowKind(Get.Key.sk.S)).join(", ");
    case "TransactWriteItems":
      return request.TransactItems.map(({ Put, ConditionCheck }: Request) =>
        Put ? rowKind(Put.Item.sk.S) : `check ${rowKind(ConditionCheck.Key.sk.S)}`,
      ).join(", ");
    default:
      return "rows";
  }
}

/** By a sort key of the ledger. */
export function rowKind(key: string): string {
  return /ACK|UNIT/.exec(key)?.[0] ?? key.replace(/#.*/, "");
}
