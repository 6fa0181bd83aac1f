import type { Decoder } from "./kafkajs-modules.ts";

/** One request of Kafka's protocol, in one version, and how to read its answer: https://kafka.apache.org/protocol */
export interface ApiRequest<T> {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  /** Headers have tagged fields (KIP-482). */
  readonly flexible?: true;
  /** Written one after the other, and not copied. */
  readonly body: readonly Buffer[];
  /** The throttle time is the answer's last field, and not its first one. */
  readonly throttleAtEnd?: true;
  /** Begins after the throttle time, where that comes first. */
  decode(decoder: Decoder): T;
}

/** What a broker answers about one thing. */
export interface Answer<T> {
  readonly code: number;
  readonly value: T;
  /** The broker's words about an error. */
  readonly message?: string | null;
}
