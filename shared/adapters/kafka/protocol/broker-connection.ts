import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { EpochflowError } from "../../../errors.ts";
import type { KafkaConnection, KafkaSasl, KafkaTls } from "../connection/connection.ts";
import { KafkaError } from "../errors.ts";
import { type Address, formatAddress } from "./address.ts";
import type { ApiRequest } from "./api-request.ts";
import { connectionError, type Situation, type Stage, timedOut } from "./connection-failure.ts";
import type { Deadline } from "./deadline.ts";
import { InFlight } from "./in-flight.ts";
import { apiVersions, Connection, Decoder, Encoder } from "./kafkajs-modules.ts";
import { skipTags } from "./requests/wire.ts";
import { authenticatorOf } from "./sasl.ts";

/** Between two packets that show whether a silent peer is still there. */
const keepAliveMs = 30_000;

/** So long before a login ends there is another one. Brokers allow one a second. */
const renewalMs = 3_000;

type Versions = Readonly<Record<number, { minVersion: number; maxVersion: number }>>;

/** A connection to one broker, authenticated. Requests are sent and answered in order. */
export class BrokerConnection {
  readonly address: Address;
  readonly #clientId: string;
  readonly #inner: Connection;
  readonly #tls: boolean;
  readonly #sasl: string | undefined;
  readonly #inFlight = new InFlight();
  readonly #ended = Promise.withResolvers<never>();
  #socket: Socket | undefined;
  #stage: Stage = "connecting";
  #end: EpochflowError | undefined;
  #versions: Versions = {};
  /** Milliseconds of the monotonic clock. */
  #throttledUntil = 0;

  private constructor(address: Address, clientId: string, tls: object | null, sasl: KafkaSasl | undefined) {
    this.address = address;
    this.#clientId = clientId;
    this.#tls = tls !== null;
    this.#sasl = sasl?.mechanism.toUpperCase();
    this.#inner = new Connection({
      ...address,
      clientId,
      logger: silent,
      ssl: tls,
      sasl: sasl === undefined ? null : authenticatorOf(sasl),
      reauthenticationThreshold: renewalMs,
      // All deadlines are kept here.
      connectionTimeout: 2 ** 31 - 1,
      requestTimeout: 2 ** 31 - 1,
      enforceRequestTimeout: false,
      socketFactory: ({ onConnect }) => this.#connect(tls, onConnect),
    });
    this.#inner.requestQueue = this.#inFlight;
    this.#ended.promise.catch(() => {});
  }

  /** @throws KafkaError UNREACHABLE, TIMED_OUT, TLS_FAILED, AUTHENTICATION_FAILED or DISCONNECTED; what a function that fetches a secret throws, if it is an EpochflowError */
  static async open(address: Address, to: KafkaConnection, deadline: Deadline): Promise<BrokerConnection> {
    const tls = to.tls === undefined ? null : await tlsOptions(to.tls, address);
    const connection = new BrokerConnection(address, to.clientId, tls, to.sasl);
    try {
      await deadline.race(Promise.race([connection.#establish(), connection.#ended.promise]), () =>
        timedOut(connection.#situation, "a new connection", deadline.timeoutMs),
      );
    } catch (error) {
      throw connection.close(error);
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Whether the broker speaks this version of an API. */
  supports(key: number, version: number): boolean {
    const range = this.#versions[key];
    return range !== undefined && range.minVersion <= version && version <= range.maxVersion;
  }

  /** @throws KafkaError for whatever keeps the answer away; an error within the answer is its reader's */
  async send<T>(request: ApiRequest<T>, deadline: Deadline): Promise<T> {
    deadline.signal?.throwIfAborted();
    const expire = () => timedOut(this.#situation, request.name, deadline.timeoutMs);
    if (!this.supports(request.key, request.version)) throw this.#unsupported(request);
    const throttledMs = this.#throttledUntil - performance.now();
    if (throttledMs > 0) await deadline.sleep(throttledMs, expire);
    if (this.#sasl !== undefined && !this.#inner.isAuthenticated()) await this.#reauthenticate(deadline, expire);
    const payload = await deadline.race(this.#exchange(request), () => this.close(expire()));
    return this.#read(request, payload);
  }

  /** Ends the connection, and fails what waits for an answer. Gives the error for it, which is that of the first call. */
  close(cause: unknown): EpochflowError {
    this.#end ??= connectionError(this.#situation, cause);
    const end = this.#end;
    this.#inFlight.end(end);
    this.#ended.reject(end);
    // An error, since without one kafkajs would not stop waiting for the connection.
    this.#socket?.destroy(end);
    return end;
  }

  get #situation(): Situation {
    return { address: this.address, stage: this.#stage, tls: this.#tls, sasl: this.#sasl };
  }

  #connect(tls: object | null, onConnect: () => void): Socket {
    const { host, port } = this.address;
    const servername = isIP(host) ? {} : { servername: host };
    const socket = tls
      ? this.#secure({ host, port, ...servername, ...tls }, onConnect)
      : connectPlain({ host, port }, onConnect);
    socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    // kafkajs sees no end before the connection stands, and no close without an error.
    socket.on("error", (error) => this.close(error));
    socket.on("end", () => this.close(undefined));
    socket.on("close", () => this.close(undefined));
    this.#socket = socket;
    return socket;
  }

  /** Keys and certificates that cannot be read are errors at once, whose codes kafkajs would drop. */
  #secure(options: object, onConnect: () => void): Socket {
    try {
      return connectTls(options, onConnect);
    } catch (error) {
      throw this.close(error);
    }
  }

  async #establish(): Promise<void> {
    await this.#inner.connect();
    const answer = (await this.#inner.send(apiVersions.protocol({ version: 0 })())) as {
      apiVersions: { apiKey: number; minVersion: number; maxVersion: number }[];
    };
    this.#versions = Object.fromEntries(answer.apiVersions.map((api) => [api.apiKey, api]));
    this.#inner.setVersions(this.#versions);
    this.#inner.setSupportAuthenticationProtocol(true);
    this.#stage = "authenticating";
    await this.#inner.authenticate();
    // A broker that wants a login says so by closing the connection at the first other request.
    this.#stage = this.#sasl === undefined ? "connecting" : "connected";
  }

  /** The broker ends sessions after a while, unless the client logs in anew (KIP-368). */
  async #reauthenticate(deadline: Deadline, expire: () => unknown): Promise<void> {
    this.#stage = "authenticating";
    try {
      await deadline.race(this.#inner.authenticate(), expire);
    } catch (error) {
      if (deadline.signal?.aborted) throw error;
      throw this.close(error);
    }
    this.#stage = "connected";
  }

  #exchange(request: ApiRequest<unknown>): Promise<Buffer> {
    const correlationId = this.#inner.nextCorrelationId();
    return new Promise((resolve, reject) => {
      this.#inFlight.push({
        entry: { correlationId, resolve: ({ payload }) => resolve(payload), reject },
        sendRequest: () => this.#write(request, correlationId),
      });
    });
  }

  /** In parts, since record batches are large: kafkajs would copy them three times. */
  #write({ key, version, flexible, body }: ApiRequest<unknown>, correlationId: number): void {
    const header = new Encoder(128)
      .writeInt16(key)
      .writeInt16(version)
      .writeInt32(correlationId)
      .writeString(this.#clientId);
    if (flexible) header.writeUVarInt(0);
    const size = body.reduce((sum, part) => sum + part.length, header.size());
    const socket = this.#socket!;
    socket.cork();
    socket.write(new Encoder(4).writeInt32(size).buffer);
    socket.write(header.buffer);
    for (const part of body) socket.write(part);
    socket.uncork();
  }

  #read<T>({ name, flexible, throttleAtEnd, decode }: ApiRequest<T>, payload: Buffer): T {
    try {
      const decoder = new Decoder(payload);
      if (flexible) skipTags(decoder);
      this.#stage = "connected";
      const throttleMs = throttleAtEnd ? payload.readInt32BE(payload.length - 4) : decoder.readInt32();
      this.#throttledUntil = Math.max(this.#throttledUntil, performance.now() + throttleMs);
      return decode(decoder);
    } catch (error) {
      throw this.close(new KafkaError("DISCONNECTED", `An answer to ${name} cannot be read`, { cause: error }));
    }
  }

  #unsupported({ name, version }: ApiRequest<unknown>): KafkaError {
    const message = `Kafka broker ${formatAddress(this.address)} does not speak version ${version} of ${name}`;
    return new KafkaError("UNSUPPORTED_VERSION", message, { wayOut: "Use brokers of 3.0 or later." });
  }
}

const nothing = () => {};
const silent = { namespace: () => silent, debug: nothing, info: nothing, warn: nothing, error: nothing };

async function tlsOptions(tls: KafkaTls, address: Address): Promise<object> {
  const { ca, certificate, key, passphrase, servername } = tls;
  try {
    return {
      ...(ca === undefined ? {} : { ca: await ca() }),
      ...(certificate === undefined ? {} : { cert: await certificate() }),
      ...(key === undefined ? {} : { key: await key() }),
      ...(passphrase === undefined ? {} : { passphrase: await passphrase() }),
      ...(servername === undefined ? {} : { servername }),
    };
  } catch (error) {
    throw connectionError({ address, stage: "authenticating", tls: true, sasl: undefined }, error);
  }
}
