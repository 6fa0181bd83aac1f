import { UsageError } from "../../../errors.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, as people write it; an IPv6 address stands in brackets. */
export const formatAddress = ({ host, port }: Address): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** @throws UsageError `invalid-brokers` */
export function parseAddress(text: string): Address {
  const match = /^(?:\[(?<ipv6>[0-9a-fA-F:.]+)\]|(?<host>[^\s:/[\]]+)):(?<port>\d{1,5})$/.exec(text.trim());
  const port = Number(match?.groups?.port);
  const host = match?.groups?.ipv6 ?? match?.groups?.host;
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new UsageError("invalid-brokers", `"${text}" is no address of a Kafka broker`, {
    wayOut: "Write host:port, several with commas between them: broker-1:9092,broker-2:9092.",
  });
}
