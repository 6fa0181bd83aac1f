import type { Driver } from "./charge.ts";

const services = ["Step Functions", "Lambda", "DynamoDB", "S3", "Kafka"] as const;

/** Requests an epoch, by service and kind: `DynamoDB TransactWriteItems`. */
export function requestsOf(drivers: readonly Driver[], epochs: number): Record<string, number> {
  const requests: Record<string, number> = {};
  for (const { what, times } of drivers) {
    const kind = kindOf(what);
    if (kind !== undefined) requests[kind] = (requests[kind] ?? 0) + times / epochs;
  }
  return requests;
}

/** By what a charge was for; undefined for one that is no request. */
function kindOf(what: string): string | undefined {
  if (what.startsWith("state ") || what === "a retry") return "Step Functions state transition";
  if (what.startsWith("invocation of ")) return `Lambda ${what.slice("invocation of ".length)}`;
  const [, request] = /^(DynamoDB \w+|S3 [A-Z]+(?: .*\(list-type\))?|Kafka .*)/.exec(what) ?? [];
  return request?.replace(/ of the bucket \(list-type\)/, " of a list");
}

/** In the order of `services`. */
export function byService(one: string, other: string): number {
  const place = (kind: string) => services.findIndex((service) => kind.startsWith(service));
  return place(one) - place(other) || (one < other ? -1 : 1);
}
