import type { SocketProxy } from "../../support/socket-proxy.ts";

/** Requests of a transaction, by their numbers in Kafka's protocol. */
const apiKeys = { produce: 0, initProducerId: 22, addOffsets: 25, endTransaction: 26, commitOffsets: 28 } as const;
export type TransactionRequest = keyof typeof apiKeys;
export const transactionRequests = Object.keys(apiKeys) as TransactionRequest[];

/** A transaction is open when it was served, and stays so if nothing comes after it. */
export const openRequests: readonly TransactionRequest[] = ["produce", "addOffsets", "commitOffsets"];

/** How long a request is waited for. */
const patienceMs = 2500;

/** Calls `then` when a client of the proxy sends such a request, before it goes on. Resolves to whether one came. */
export async function atRequest(proxy: SocketProxy, wanted: TransactionRequest, then: () => void): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), patienceMs);
  proxy.watch = (bytes) => {
    if (apiKeyOf(bytes) !== apiKeys[wanted]) return;
    proxy.watch = undefined;
    then();
    resolve(true);
  };
  const came = await promise;
  clearTimeout(timer);
  proxy.watch = undefined;
  return came;
}

/** Of the request with which a piece of a connection begins: size, then the number. The middle of a long one may look like any. */
function apiKeyOf(bytes: Buffer): number | undefined {
  return bytes.length < 8 ? undefined : bytes.readInt16BE(4);
}
