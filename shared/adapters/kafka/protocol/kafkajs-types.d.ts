// The inner modules of kafkajs 2.2.4 that `kafkajs-modules.ts` uses: the package has types for its public API only.

declare module "kafkajs/src/network/connection.js" {
  interface Request {
    readonly apiKey: number;
    readonly apiName: string;
    readonly apiVersion: number;
    encode(): Promise<object>;
  }
  export interface Entry {
    readonly correlationId: number;
    resolve(response: { entry: Entry; correlationId: number; size: number; payload: Buffer }): void;
    reject(error: unknown): void;
  }
  export interface RequestQueue {
    push(request: { entry: Entry; sendRequest: () => void }): void;
    fulfillRequest(response: { correlationId: number; size: number; payload: Buffer }): void;
    rejectAll(error: unknown): void;
    maybeThrottle(throttleMs: number | null | undefined): void;
    waitForPendingRequests(): Promise<void>;
    scheduleRequestTimeoutCheck(): void;
    destroy(): void;
  }
  export default class Connection {
    constructor(options: {
      host: string;
      port: number;
      clientId: string;
      logger: object;
      ssl: object | null;
      sasl: object | null;
      reauthenticationThreshold: number;
      connectionTimeout: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      socketFactory(given: {
        host: string;
        port: number;
        ssl: object | null;
        onConnect: () => void;
      }): import("node:net").Socket;
    });
    requestQueue: RequestQueue;
    connect(): Promise<true>;
    authenticate(): Promise<void>;
    isAuthenticated(): boolean;
    setVersions(versions: Readonly<Record<number, { minVersion: number; maxVersion: number }>>): void;
    setSupportAuthenticationProtocol(isSupported: boolean): void;
    nextCorrelationId(): number;
    send(exchange: { request: Request; response: object }): Promise<unknown>;
  }
}

declare module "kafkajs/src/protocol/requests/apiVersions/index.js" {
  const apiVersions: {
    protocol(options: { version: 0 }): () => {
      request: { apiKey: number; apiName: string; apiVersion: number; encode(): Promise<object> };
      response: object;
    };
  };
  export default apiVersions;
}

declare module "kafkajs/src/protocol/encoder.js" {
  export default class Encoder {
    constructor(initialBytes?: number);
    readonly buffer: Buffer;
    writeInt8(value: number): this;
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    writeInt64(value: number | bigint): this;
    writeBoolean(value: boolean): this;
    writeString(value: string | null): this;
    writeBytes(value: Buffer): this;
    writeBuffer(value: Buffer): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string | null): this;
    size(): number;
  }
}

declare module "kafkajs/src/protocol/decoder.js" {
  export default class Decoder {
    constructor(buffer: Buffer);
    readonly buffer: Buffer;
    readInt8(): number;
    readInt16(): number;
    readInt32(): number;
    readInt64(): bigint;
    readBoolean(): boolean;
    readString(): string | null;
    /** A view; null for a length of -1. */
    readBytes(length?: number): Buffer | null;
    readUVarInt(): number;
    readUVarIntString(): string | null;
    readArray<T>(read: (decoder: Decoder) => T): T[];
    readUVarIntArray<T>(read: (decoder: Decoder) => T): T[] | null;
    forward(bytes: number): void;
  }
}

declare module "kafkajs/src/broker/saslAuthenticator/*.js" {
  type SaslRequest = { request: { encode(): Promise<Buffer> }; response?: object };
  interface Context {
    readonly host: string;
    readonly port: number;
    readonly logger: object;
    saslAuthenticate(exchange: SaslRequest): Promise<unknown>;
  }
  const provider: (credentials: { username: string; password: string }) => (context: Context) => {
    authenticate(): Promise<void>;
  };
  export default provider;
}
