import type { UserCodeError } from "../../../errors.ts";
import type { KafkaHeaders, KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import type { SinkContext } from "../../../ports/sink.ts";
import { encodeHeaders, noTimestamp } from "../record-batch/encode.ts";
import { refusedRow } from "./errors.ts";

/** Latest time that JavaScript's dates know. */
export const latestTime = 8.64e15;

const isList = (headers: KafkaHeaders) => Array.isArray(headers);

/** Asks the user's functions for what a row's record consists of. Whatever is wrong with that is the row's fault: a UserCodeError. */
export class RowFields<T> {
  readonly #settings: KafkaSinkSettings<T>;
  readonly #context: SinkContext;
  /** The headers that every record has. */
  readonly #common: readonly (readonly [string, string])[];
  /** The same, encoded. */
  readonly commonHeaders: Uint8Array;
  readonly #encode: (row: T) => string | Uint8Array | null;

  constructor(settings: KafkaSinkSettings<T>, context: SinkContext) {
    const { epochHeader, value } = settings;
    this.#encode = (row) => value.encode(row);
    this.#settings = settings;
    this.#context = context;
    this.#common = epochHeader === undefined ? [] : [[epochHeader, `${context.pipeline}/${context.epoch}`]];
    this.commonHeaders = encodeHeaders(this.#common);
  }

  topic(row: T): string {
    const { topic } = this.#settings;
    if (typeof topic === "string") return topic;
    const name = this.#call("topic", topic, row);
    return typeof name === "string" ? name : this.#refuse("topic", "a text", name);
  }

  key(row: T): string | Uint8Array | null {
    const { key } = this.#settings;
    if (key === undefined) return null;
    return this.#binary("key", this.#call("key", key, row));
  }

  value(row: T): string | Uint8Array | null {
    return this.#binary("value", this.#call("value", this.#encode, row));
  }

  headers(row: T): Uint8Array {
    const { headers } = this.#settings;
    if (headers === undefined) return this.commonHeaders;
    const given = this.#call("headers", headers, row);
    if (typeof given !== "object" || given === null) return this.#refuse("headers", "an object", given);
    const entries = isList(given) ? given : Object.entries(given);
    const checked = entries.map(([name, value]) => {
      if (typeof value === "string" || value instanceof Uint8Array) return [name, value] as const;
      if (value === null && isList(given)) return [name, null] as const;
      return this.#refuse("headers", "an object of texts and bytes", value);
    });
    return encodeHeaders([...checked, ...this.#common]);
  }

  /** The partition that the user chose; undefined where that is the key's business. */
  partition(row: T, partitions: number): number | undefined {
    const { partition } = this.#settings;
    if (partition === undefined) return undefined;
    const chosen = this.#call("partition", (one) => partition(one, partitions), row);
    if (Number.isInteger(chosen) && chosen >= 0 && chosen < partitions) return chosen;
    if (typeof chosen !== "number") return this.#refuse("partition", "a number", chosen);
    throw this.#refusal(
      "partition",
      `its partition function gave ${chosen}, but the topic has ${partitions} partitions`,
    );
  }

  /** Epoch milliseconds, whole: what follows the point is nothing to Kafka. */
  timestamp(row: T, eventTime: number | undefined): number {
    const { timestamp } = this.#settings;
    const time = timestamp === undefined ? eventTime : this.#call("timestamp", timestamp, row);
    if (time === undefined && timestamp === undefined) return noTimestamp;
    if (typeof time !== "number") return this.#refuse("timestamp", "a number", time);
    if (time >= 0 && time <= latestTime) return Math.floor(time);
    throw this.#refusal("timestamp", `Kafka knows no record of the time ${time}`, {
      wayOut:
        "Times are milliseconds since 1970, and not before. Set `timestamp` of the sink to another time of the row.",
    });
  }

  #binary(field: string, given: unknown): string | Uint8Array | null {
    if (given === null || given instanceof Uint8Array) return given;
    if (typeof given !== "string") return this.#refuse(field, "a text, bytes or null", given);
    if (given.isWellFormed()) return given;
    throw this.#refusal(field, `its ${field} has half of a surrogate pair, for which UTF-8 has no bytes`);
  }

  #call<Result>(field: string, ask: (row: T) => Result, row: T): Result {
    try {
      return ask(row);
    } catch (error) {
      const reason = error instanceof Error ? error.message : `it threw a ${typeof error}`;
      throw this.#refusal(field, `a row's ${field} cannot be made: ${reason}`, { cause: error });
    }
  }

  #refuse(field: string, expected: string, given: unknown): never {
    // Nobody will ever await it: its rejection must not end the process.
    if (given instanceof Promise) given.catch(() => {});
    const kind = given === null ? "null" : given instanceof Promise ? "a promise" : `of type ${typeof given}`;
    throw this.#refusal(field, `a row's ${field} is ${kind}, but must be ${expected}`);
  }

  #refusal(field: string, reason: string, details: { wayOut?: string; cause?: unknown } = {}): UserCodeError {
    const wayOut = `Mend \`${field}\` of the sink, or map rows before it.`;
    return refusedRow(`kafka-row-${field}`, this.#context, reason, { wayOut, ...details });
  }
}
