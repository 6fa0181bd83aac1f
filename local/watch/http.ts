import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { InfrastructureError, UsageError } from "../../shared/errors.ts";

/** Where a server listens. Port 0: any that is free. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A server that people look through. */
export interface Served {
  /** `http://127.0.0.1:9464` */
  readonly url: string;
  close(): Promise<void>;
}

/** @param path without the query */
export type Answer = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
const isLoopback = (host: string) => loopback.test(isIPv6(host) ? `[${host}]` : host);

/**
 * Serves what can be read and nothing else: GET and HEAD. On a loopback address requests must be for one, too: a page from elsewhere whose name was made to lead
 * here (DNS rebinding) names its own host. The server does not keep a process alive.
 *
 * @throws UsageError `port-in-use`, `no-such-address`; InfrastructureError `cannot-listen`
 */
export async function serve(what: string, { host, port }: Address, answer: Answer): Promise<Served> {
  const server = createServer(async (request, response) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Cache-Control", "no-store");
    if (isLoopback(host) && !loopback.test(request.headers.host ?? ""))
      return end(response, 403, "This server answers requests for this machine only.");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      return end(response, 405, "There is nothing to change here.");
    }
    try {
      await answer(new URL(`http://localhost${request.url ?? "/"}`).pathname, request, response);
    } catch {
      if (!response.headersSent) end(response, 500, "This cannot be told just now.");
      else response.destroy();
    }
  });
  server.unref();
  await listen(server, what, { host, port });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${actual}`,
    close: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

/** Ends an answer with a text for people. */
export function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

function listen(server: Server, what: string, { host, port }: Address): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, what, { host, port })));
  server.listen(port, host, resolve);
  return promise;
}

function explain(error: NodeJS.ErrnoException, what: string, { host, port }: Address): Error {
  if (error.code === "EADDRINUSE")
    return new UsageError("port-in-use", `${what} cannot be served: port ${port} of ${host} is in use`, {
      wayOut: "Name another port, or 0 for any that is free; or end the process that has it.",
    });
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return new UsageError(
      "no-such-address",
      `${what} cannot be served at ${host}, which is no address of this machine`,
      {
        wayOut: "Name an address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for all.",
      },
    );
  const message = `${what} cannot be served at ${host}, port ${port}: ${error.message}`;
  return new InfrastructureError("cannot-listen", message, { cause: error });
}
