import { connect as connectPlain, isIP, type OnReadOpts, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { EpochflowError } from "../../../errors.ts";
import type { KafkaConnection, KafkaSasl, KafkaTls } from "../connection/connection.ts";
import { KafkaError } from "../errors.ts";
import { type Address, formatAddress } from "./address.ts";
import type { AnswerMemory } from "./answer-memory.ts";
import { AnswerReader } from "./answer-reader.ts";
import type { ApiRequest } from "./api-request.ts";
import { connectionError, type Situation, type Stage, timedOut } from "./connection-failure.ts";
import type { Deadline } from "./deadline.ts";
import { InFlight } from "./in-flight.ts";
import { Decoder, Encoder } from "./kafkajs-modules.ts";
import { skipTags } from "./requests/wire.ts";
import { type LoginRequest, login } from "./sasl.ts";

/** Between two packets that show whether a silent peer is still there. */
const keepAliveMs = 30_000;

/** So long before a login ends there is another one. Brokers allow one a second. */
const renewalMs = 3_000;

/** Read at once, if so much is there. */
const readBytes = 256 * 1024;

type Versions = Readonly<Record<number, { minVersion: number; maxVersion: number }>>;

/** A connection to one broker, authenticated. Requests are sent and answered in order. */
export class BrokerConnection {
  readonly address: Address;
  readonly #clientId: string;
  readonly #tls: object | null;
  readonly #sasl: KafkaSasl | undefined;
  readonly #memory: AnswerMemory;
  readonly #inFlight = new InFlight();
  readonly #ended = Promise.withResolvers<never>();
  #socket: Socket | undefined;
  #stage: Stage = "connecting";
  #end: EpochflowError | undefined;
  #versions: Versions = {};
  /** Milliseconds of the monotonic clock, as the next. */
  #throttledUntil = 0;
  /** When a login is due. */
  #loginAt = Number.POSITIVE_INFINITY;
  #loggingIn: Promise<void> | undefined;

  private constructor(address: Address, { clientId, sasl }: KafkaConnection, tls: object | null, memory: AnswerMemory) {
    this.address = address;
    this.#clientId = clientId;
    this.#memory = memory;
    this.#tls = tls;
    this.#sasl = sasl;
    this.#ended.promise.catch(() => {});
  }

  /** @throws KafkaError UNREACHABLE, TIMED_OUT, TLS_FAILED, AUTHENTICATION_FAILED or DISCONNECTED; what a function that fetches a secret throws, if it is an EpochflowError */
  static async open(
    address: Address,
    to: KafkaConnection,
    memory: AnswerMemory,
    deadline: Deadline,
  ): Promise<BrokerConnection> {
    const tls = to.tls === undefined ? null : await tlsOptions(to.tls, address);
    const connection = new BrokerConnection(address, to, tls, memory);
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
    if (performance.now() >= this.#loginAt) await this.#loginAgain(deadline, expire);
    const payload = await deadline.race(this.#exchange(request), () => this.close(expire()));
    return this.#read(request, payload);
  }

  /** Ends the connection, and fails what waits for an answer. Gives the error for it, which is that of the first call. */
  close(cause: unknown): EpochflowError {
    this.#end ??= connectionError(this.#situation, cause);
    const end = this.#end;
    this.#inFlight.end(end);
    this.#ended.reject(end);
    this.#socket?.destroy();
    return end;
  }

  get #situation(): Situation {
    const sasl = this.#sasl?.mechanism.toUpperCase();
    return { address: this.address, stage: this.#stage, tls: this.#tls !== null, sasl };
  }

  #connect(onConnect: () => void): Socket {
    const { host, port } = this.address;
    const options = { host, port, onread: this.#reading() };
    const servername = isIP(host) ? {} : { servername: host };
    const socket = this.#tls
      ? connectTls({ ...options, ...servername, ...this.#tls }, onConnect)
      : connectPlain(options, onConnect);
    socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    socket.on("error", (error) => this.close(error));
    socket.on("end", () => this.close(undefined));
    socket.on("close", () => this.close(undefined));
    this.#socket = socket;
    return socket;
  }

  /** Into memory that is used again for whatever comes next: a stream of chunks has new memory for each. */
  #reading(): OnReadOpts {
    const answers = new AnswerReader(this.#memory, (id, answer) => this.#inFlight.answered(id, answer));
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    return {
      buffer,
      callback: (size) => {
        try {
          answers.push(buffer.subarray(0, size));
        } catch (error) {
          this.close(error);
        }
        return true;
      },
    };
  }

  async #establish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#connect(resolve);
    });
    this.#versions = readVersions(await this.#exchange({ name: "ApiVersions", key: 18, version: 0, body: [] }));
    this.#stage = "authenticating";
    await this.#login();
    // A broker that wants a login says so by closing the connection at the first other request.
    this.#stage = this.#sasl === undefined ? "connecting" : "connected";
  }

  async #login(): Promise<void> {
    if (this.#sasl === undefined) return;
    const sessionMs = await login(this.#sasl, this.address, (request) => this.#exchange(request));
    this.#loginAt = sessionMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + sessionMs - renewalMs;
  }

  /** The broker ends sessions after a while, unless the client logs in anew (KIP-368). Once for all who are about to send something. */
  async #loginAgain(deadline: Deadline, expire: () => unknown): Promise<void> {
    this.#stage = "authenticating";
    this.#loggingIn ??= this.#login().finally(() => {
      this.#loggingIn = undefined;
    });
    try {
      await deadline.race(this.#loggingIn, expire);
    } catch (error) {
      if (deadline.signal?.aborted) throw error;
      throw this.close(error);
    }
    this.#stage = "connected";
  }

  #exchange(request: ApiRequest<unknown> | LoginRequest): Promise<Buffer> {
    return this.#inFlight.add((correlationId) => this.#write(request, correlationId));
  }

  /** In parts, since record batches are large. */
  #write(request: ApiRequest<unknown> | LoginRequest, correlationId: number): void {
    const { key, version, body } = request;
    const header = new Encoder(128)
      .writeInt16(key)
      .writeInt16(version)
      .writeInt32(correlationId)
      .writeString(this.#clientId);
    if ("flexible" in request) header.writeUVarInt(0);
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

/** Of ApiVersions, version 0, which every broker speaks. */
function readVersions(answer: Buffer): Versions {
  const decoder = new Decoder(answer);
  decoder.readInt16();
  const apis = decoder.readArray(() => {
    const key = decoder.readInt16();
    return [key, { minVersion: decoder.readInt16(), maxVersion: decoder.readInt16() }] as const;
  });
  return Object.fromEntries(apis);
}

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
