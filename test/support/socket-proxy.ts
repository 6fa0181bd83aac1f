import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy that does to connections what networks do. */
export interface SocketProxy extends AsyncDisposable {
  /** `127.0.0.1:port`, for clients. A Kafka broker behind it must advertise this address. */
  readonly address: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Where new connections go from now on. */
  target: string;
  /** Is shown what clients send, piece by piece, before it goes on; `connection` tells one client's pieces from another's. */
  watch: ((bytes: Buffer, connection: object) => void) | undefined;
  /** Ends all connections by a reset on both sides. */
  reset(): void;
  /** Nothing passes any more, in either direction, and nobody is told; new connections are accepted, and silent. */
  stall(): void;
  /** All goes on where it stalled. */
  resume(): void;
  /** What the target next answers gets lost, though it has done what it was asked for: then the connection is reset, or just stays silent. Resolves then. */
  dropNext(then?: "reset" | "silence"): Promise<void>;
  /** What the target next answers passes after all, if it has not been dropped yet. */
  spareNext(): void;
  close(): Promise<void>;
}

/** @param target `host:port`; needs no listener before the first connection */
export async function startProxy(target: string): Promise<SocketProxy> {
  const proxy = new ForwardingProxy(target);
  await proxy.listen();
  return proxy;
}

class ForwardingProxy implements SocketProxy {
  target: string;
  watch: ((bytes: Buffer, connection: object) => void) | undefined;
  readonly #server = createServer({ noDelay: true }, (client) => this.#accept(client));
  readonly #pairs = new Set<Pair>();
  #stalled = false;
  #dropNext: { readonly then: "reset" | "silence"; readonly dropped: () => void } | undefined;

  constructor(target: string) {
    this.target = target;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  reset(): void {
    for (const pair of this.#pairs) pair.reset();
  }

  stall(): void {
    this.#stalled = true;
    for (const pair of this.#pairs) pair.pause();
  }

  resume(): void {
    this.#stalled = false;
    for (const pair of this.#pairs) pair.resume();
  }

  dropNext(then: "reset" | "silence" = "reset"): Promise<void> {
    const { promise, resolve: dropped } = Promise.withResolvers<void>();
    this.#dropNext = { then, dropped };
    return promise;
  }

  spareNext(): void {
    this.#dropNext = undefined;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.reset();
    await once(this.#server, "close");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    const [host, port] = this.target.split(":");
    const pair = new Pair(client, connect({ host: host!, port: Number(port), noDelay: true }));
    this.#pairs.add(pair);
    pair.onEnd = () => this.#pairs.delete(pair);
    pair.onRequest = (bytes) => this.watch?.(bytes, pair);
    pair.onAnswer = () => {
      const next = this.#dropNext;
      this.#dropNext = undefined;
      next?.dropped();
      return next?.then;
    };
    if (this.#stalled) pair.pause();
  }
}

/** A client's connection and ours to the target. */
class Pair {
  onEnd = () => {};
  onRequest = (_: Buffer) => {};
  onAnswer: () => "reset" | "silence" | undefined = () => undefined;
  readonly #sockets: readonly [client: Socket, server: Socket];
  #silent = false;

  constructor(client: Socket, server: Socket) {
    this.#sockets = [client, server];
    client.on("data", (bytes) => {
      this.onRequest(bytes);
      server.write(bytes);
    });
    server.on("data", (bytes) => this.#answer(bytes));
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("end", () => other.end());
      socket.on("close", () => {
        other.destroy();
        this.onEnd();
      });
    }
  }

  pause(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  resume(): void {
    for (const socket of this.#sockets) socket.resume();
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #answer(bytes: Buffer): void {
    if (this.#silent) return;
    const then = this.onAnswer();
    if (then === undefined) this.#sockets[0].write(bytes);
    else if (then === "reset") this.reset();
    else this.#silent = true;
  }
}
