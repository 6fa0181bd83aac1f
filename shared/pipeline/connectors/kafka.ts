import { UsageError } from "../../errors.ts";
import { checkOptions, didYouMean } from "../../options.ts";
import { type DecoderLike, toDecoder } from "../decoders/decoder.ts";
import type { OrParameter } from "../parameter.ts";
import { toSelector } from "../pointer.ts";
import type { PointerTo } from "../pointer-types.ts";
import { checkText, describeSource, type SourceOptions, sourceOptionNames } from "../source-options.ts";
import type { Encoder, SinkDescription, SourceDescription } from "../topology.ts";
import { checkConnection, connection, type KafkaConnectionSettings } from "./kafka-connection.ts";

const compressions = ["none", "gzip", "snappy", "lz4", "zstd"] as const;
const isolations = ["read_committed", "read_uncommitted"] as const;

/** Compression of record batches; what Kafka's own clients know. */
export type KafkaCompression = (typeof compressions)[number];

/**
 * Where the partitions that exist at the first plan start: at their logs' start (default), at their ends, at the first record that is not older than a time in epoch milliseconds, or at offsets by
 * `topic/partition`; a partition that is not named starts at its log's start, as those do that come later.
 */
export type KafkaStart =
  | "earliest"
  | "latest"
  | { readonly timestamp: number }
  | { readonly offsets: Readonly<Record<string, number>> };

type Topics =
  | { readonly topic: OrParameter<string>; readonly topics?: never; readonly pattern?: never }
  | { readonly topics: readonly OrParameter<string>[]; readonly topic?: never; readonly pattern?: never }
  /** Whole names must match. Topics that are made later are found. */
  | { readonly pattern: RegExp; readonly topic?: never; readonly topics?: never };

export type KafkaSourceOptions<T, K = string> = Omit<SourceOptions<T>, "timestamp"> &
  Topics & {
    /** How a record's key becomes `metadata.key`; a text by default. Without a key it is undefined, or what `nullable(…)` makes of it. */
    readonly key?: DecoderLike<K>;
    /** Event time of a value in epoch milliseconds: a function of the value, or a JSON pointer into it; default `"record"`, the record's own. */
    readonly timestamp?: "record" | ((value: NoInfer<T>) => number) | PointerTo<NoInfer<T>, number>;
    readonly startFrom?: KafkaStart;
    /** Whether records of transactions are read once these are committed (default), or at once and also if they are aborted. */
    readonly isolation?: (typeof isolations)[number];
    /** The cluster; by default the one that the parameter `brokers` names. */
    readonly connection?: KafkaConnectionSettings;
  };

export type KafkaHeaders =
  | Readonly<Record<string, string | Uint8Array>>
  | readonly (readonly [name: string, value: string | Uint8Array | null])[];

/** Of a row: by a function, or by a JSON pointer into it, "/word". */
export type OfRow<T, V> = ((row: T) => V) | PointerTo<NoInfer<T>, V>;

type Target<T> =
  | { readonly topic: OrParameter<string>; readonly markerTopic?: OrParameter<string> }
  /** A computed topic needs a `markerTopic`, on which offsets tell which epoch has been committed. Nothing is written to it. */
  | { readonly topic: OfRow<T, string>; readonly markerTopic: OrParameter<string> };

export type KafkaSinkOptions<T> = Target<T> & {
  /** The record's value: `json()`, `text()`, a function of the row, or a JSON pointer into it; null is a tombstone. */
  readonly value: Encoder<NoInfer<T>> | OfRow<NoInfer<T>, string | Uint8Array | null>;
  /** The record's key, which also picks the partition, as Java's default partitioner does. Without it that is a matter of value and timestamp, so that it does not depend on how rows are cut into tasks. */
  readonly key?: OfRow<T, string | Uint8Array | null>;
  /** By name; or in an order, where a name may come twice, and a value be null. */
  readonly headers?: OfRow<T, KafkaHeaders>;
  /** The partition's number, from 0. */
  readonly partition?: ((row: T, partitions: number) => number) | PointerTo<NoInfer<T>, number>;
  /** Default none. */
  readonly compression?: KafkaCompression;
  /** The record's timestamp in epoch milliseconds; by default the row's event time: of an aggregate's row the last millisecond of its window. */
  readonly timestamp?: OfRow<T, number>;
  /** Transactions that an epoch's output is shared among; default 1. Cannot change later. */
  readonly lanes?: number;
  /** Name of a header that gets pipeline and epoch, as `word-count/17`. */
  readonly epochHeader?: string;
  readonly connection?: KafkaConnectionSettings;
};

/** `options` of the description of a Kafka source; bound, so that parameters are texts. */
export interface KafkaSourceSettings {
  readonly connection: KafkaConnectionSettings;
  /** Names, or a pattern that a whole name must match. */
  readonly topics: readonly string[] | RegExp;
  readonly startFrom: KafkaStart;
  readonly isolation: (typeof isolations)[number];
}

/** `options` of the description of a Kafka sink; bound. Functions throw what is wrong with a row. */
export interface KafkaSinkSettings<T = unknown> {
  readonly connection: KafkaConnectionSettings;
  readonly topic: string | ((row: T) => string);
  /** Topic of the marker's offset: `topic` where that is fixed. */
  readonly markerTopic: string;
  readonly key: ((row: T) => string | Uint8Array | null) | undefined;
  readonly value: Encoder<T>;
  readonly headers: ((row: T) => KafkaHeaders) | undefined;
  /** Number of the partition; without it by murmur2 of the key, as Java's default partitioner. */
  readonly partition: ((row: T, partitions: number) => number) | undefined;
  readonly compression: KafkaCompression;
  readonly lanes: number;
  /** Record's timestamp; without it the row's event time. */
  readonly timestamp: ((row: T) => number) | undefined;
  /** Name of the header that names pipeline and epoch ("pipeline/epoch"); undefined: none. */
  readonly epochHeader: string | undefined;
}

const mostLanes = 64;

/** Records in, records out, of Apache Kafka 3.6 or later (protocol §7, §9). */
export const kafka = {
  /** Names a cluster, and how to get in. @throws UsageError for an option that is unknown or not allowed */
  connection,

  /** Reads topics, exactly, and without a consumer group. @throws UsageError for an option that is unknown or not allowed */
  source<T, K = string>(given: KafkaSourceOptions<T, K>): SourceDescription<T, K | undefined> {
    const what = "kafka.source()";
    const own = ["topic", "topics", "pattern", "key", "startFrom", "isolation", "connection"];
    checkOptions(what, given, [...own, ...sourceOptionNames]);
    const { startFrom = "earliest", isolation = "read_committed", timestamp, key, ...common } = given;
    const options = {
      connection: checkConnection(what, given.connection),
      topics: topicsOf(given),
      startFrom: checkStart(startFrom),
      isolation: checkChoice(`isolation of ${what}`, isolation, isolations),
    };
    const time = timestamp === undefined || timestamp === "record" ? {} : { timestamp };
    return describeSource<T, K | undefined>(
      "kafka",
      { ...common, ...time },
      options,
      key && toDecoder(`key of ${what}`, key),
    );
  },

  /** Writes rows in transactions; readers must be read_committed. @throws UsageError for an option that is unknown or not allowed */
  sink<T = unknown>(given: KafkaSinkOptions<T>): SinkDescription<T> {
    const what = "kafka.sink()";
    const functions = ["key", "headers", "partition", "timestamp"] as const;
    checkOptions(what, given, [
      ...["topic", "markerTopic", "value", "compression", "lanes", "epochHeader", "connection"],
      ...functions,
    ]);
    const selectors = functions.map((name) => [name, selectorOf(`${name} of ${what}`, given[name])]);
    const { compression = "none", lanes = 1, epochHeader } = given;
    const settings = {
      ...targetOf(given),
      connection: checkConnection(what, given.connection),
      value: encoderOf<T>(given.value),
      ...Object.fromEntries(selectors),
      epochHeader,
      compression: checkChoice(`compression of ${what}`, compression, compressions),
      lanes: checkLanes(lanes),
    };
    if (epochHeader !== undefined) checkText(`epochHeader of ${what}`, epochHeader);
    return { kind: "kafka", options: settings };
  },
};

function selectorOf<F extends (...given: never[]) => unknown>(what: string, given: F | string | undefined) {
  return given === undefined ? undefined : toSelector(what, given);
}

function topicsOf(given: Topics): readonly OrParameter<string>[] | RegExp {
  const { topic, topics, pattern } = given;
  if ([topic, topics, pattern].filter((one) => one !== undefined).length !== 1)
    throw invalid("kafka.source() takes one of topic, topics and pattern");
  if (pattern instanceof RegExp) return pattern;
  if (pattern !== undefined) throw invalid("pattern of kafka.source() must be a regular expression");
  if (topics === undefined) return [checkText("topic of kafka.source()", topic)];
  if (Array.isArray(topics) && topics.length > 0)
    return topics.map((each) => checkText("each of topics of kafka.source()", each));
  throw invalid("topics of kafka.source() must be a list of names, and not empty");
}

function checkStart(given: KafkaStart): KafkaStart {
  if (typeof given === "string")
    return checkChoice("startFrom of kafka.source()", given, ["earliest", "latest"] as const);
  const isOffset = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
  if (typeof given === "object" && given !== null) {
    checkOptions("startFrom of kafka.source()", given, ["timestamp", "offsets"]);
    if ("timestamp" in given && !("offsets" in given) && isOffset(given.timestamp)) return given;
    if ("offsets" in given && !("timestamp" in given) && Object.values(given.offsets ?? [""]).every(isOffset))
      return given;
  }
  throw invalid(
    "startFrom of kafka.source() is not possible",
    'Use "earliest", "latest", { timestamp: 1700000000000 } or { offsets: { "topic/0": 42 } }.',
  );
}

function targetOf<T>({
  topic,
  markerTopic,
}: {
  topic: OrParameter<string> | ((row: T) => string);
  markerTopic?: unknown;
}) {
  // No topic has a slash in its name.
  const isComputed = typeof topic === "function" || (typeof topic === "string" && topic.startsWith("/"));
  if (!isComputed) {
    const name = checkText("topic of kafka.sink()", topic);
    return { topic: name, markerTopic: markerTopic === undefined ? name : checkText("markerTopic", markerTopic) };
  }
  if (markerTopic === undefined)
    throw invalid(
      "kafka.sink() with a computed topic needs a markerTopic",
      "Name a topic that exists; nothing is written to it.",
    );
  return {
    topic: toSelector<(row: T) => string>("topic of kafka.sink()", topic),
    markerTopic: checkText("markerTopic of kafka.sink()", markerTopic),
  };
}

function encoderOf<T>(given: Encoder<T> | ((row: T) => string | Uint8Array | null) | string): Encoder<T> {
  if (typeof given === "function" && given.length === 1) return { name: "function", encode: given };
  if (typeof given === "string")
    return { name: given, encode: toSelector<Encoder<T>["encode"]>("value of kafka.sink()", given) };
  if (typeof given === "object" && typeof given?.encode === "function") return given;
  throw invalid(
    "value of kafka.sink() must be an encoder, a function of the row, or a JSON pointer into it",
    'For instance json(), text(), (row) => row.word, or "/word".',
  );
}

function checkLanes(given: number): number {
  if (Number.isSafeInteger(given) && given >= 1 && given <= mostLanes) return given;
  throw invalid(`lanes of kafka.sink() is ${String(given)}, but must be an integer from 1 to ${mostLanes}`);
}

function checkChoice<Choice extends string>(what: string, given: unknown, choices: readonly Choice[]): Choice {
  if (choices.includes(given as Choice)) return given as Choice;
  throw invalid(
    `${what} is ${JSON.stringify(given)}.${didYouMean(String(given), choices)}`,
    `Use ${choices.map((choice) => `"${choice}"`).join(" or ")}.`,
  );
}

function invalid(message: string, wayOut?: string): UsageError {
  return new UsageError("invalid-option", message, wayOut === undefined ? {} : { wayOut });
}
