// The inner modules of kafkajs 2.2.4 that `kafkajs-modules.ts` uses: the package has types for its public API only.

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
  interface Exchange {
    /** With its size before it. */
    readonly request: { encode(): Promise<Buffer> };
    /** Reads what comes back, with its size before it. */
    readonly response?: { decode(bytes: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
  }
  export interface Context {
    readonly host: string;
    readonly port: number;
    readonly logger: object;
    saslAuthenticate(exchange: Exchange): Promise<unknown>;
  }
  const provider: (credentials: { username: string; password: string }) => (context: Context) => {
    authenticate(): Promise<void>;
  };
  export default provider;
}
