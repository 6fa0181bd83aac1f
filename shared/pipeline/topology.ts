import type { Aggregate } from "../operators/aggregates.ts";
import type { TwoPhaseCommitSink } from "../ports/sink.ts";
import type { Source } from "../ports/source.ts";
import type { Parameter } from "./parameter.ts";
import type { TextSplit } from "./text-split.ts";

/** What a key may be (protocol §4). `-0` is `0`. */
export type KeyPart = string | number | boolean | bigint;
export type Key = KeyPart | readonly KeyPart[];

/** What a user's function sees beside a value. For a row that an aggregate made, `partition` is "" and `offset` -1. */
export interface RecordMetadata<K = string | undefined> {
  /** The record's key, as the source's `key` decodes it: a text by default; undefined where there is none. */
  readonly key: K;
  readonly headers: Readonly<Record<string, string>>;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly partition: string;
  readonly offset: number;
}

/** Turns a record's bytes into a value; throws what is wrong with them. Must be a pure function. Their memory is used again for later records: what keeps bytes copies them. */
export interface Decoder<T> {
  /** For `explain`: "text", "json", "pattern", … */
  readonly name: string;
  decode(bytes: Buffer, start: number, end: number): T;
  /** What a null is; without it a null does not decode. */
  decodeNull?(): T;
}

/** Turns a row into the bytes of a record's value; null is a tombstone. Throws what is wrong with the row. Must be a pure function. */
export interface Encoder<in T = never> {
  readonly name: string;
  encode(row: T): string | Uint8Array | null;
  /** `encode` gives what `JSON.stringify` does, but bigints as text: so a sink may write the same bytes without asking it for each row. */
  readonly isJson?: true;
  /** What files of such rows are like; without it `.txt`, with a row a line. */
  readonly file?: FileStyle;
}

/** What files of encoded rows are like. */
export interface FileStyle {
  /** Of their names, without dot: small letters and digits. */
  readonly extension: string;
  /** The first line of each file, without its end. */
  readonly header?: string;
  /** After each row; default "\n". */
  readonly lineEnd?: "\n" | "\r\n";
  /** Line breaks within a row are the encoder's business, which quotes or escapes them; without it a row with one is refused. */
  readonly ownLineBreaks?: boolean;
}

/** Of a source or sink that the user has made: how it comes to be, in place of an adapter that `kind` picks. */
export interface ConnectorDescription<Port> {
  readonly create: (
    options: Readonly<Record<string, unknown>>,
    surroundings: { readonly bounded: boolean },
  ) => Port | Promise<Port>;
  /** Options that are part of the fingerprint. */
  readonly permanent: readonly string[];
}

/** A source as data. `kind` picks the adapter in the composition root. Option values may be parameters. */
export interface SourceDescription<T = unknown, K = unknown> {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly connector?: ConnectorDescription<Source>;
  readonly value: Decoder<T>;
  /** Decodes keys, where functions ask for them; absent: as text. */
  readonly key: Decoder<K> | undefined;
  /** Event time of a value, epoch milliseconds. Without it the source's own, and if it has none the plan's processing time. */
  readonly timestamp: ((value: T) => number) | undefined;
  /** Milliseconds by which records may be out of order within a partition. */
  readonly outOfOrderMs: number;
  /** Milliseconds after which a partition that is at its end no longer holds the watermark back. */
  readonly idleAfterMs: number;
}

/** A sink as data. It accepts a T. */
export interface SinkDescription<in T = never> {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly connector?: ConnectorDescription<TwoPhaseCommitSink>;
  /** A phantom, which makes the type contravariant: absent at run time. */
  readonly accepts?: (value: T) => void;
  /** Sources have one, and so are no sinks. */
  readonly value?: never;
}

/** Windows of `sizeMs`, one starting every `everyMs`: at `k × everyMs + offsetMs` since 1970 in UTC, for every integer k. Tumbling: both are equal. */
export interface WindowAssigner {
  readonly kind: "tumbling" | "sliding";
  readonly sizeMs: number;
  readonly everyMs: number;
  /** Absent: 0. Otherwise above 0 and below `everyMs`: windows that start 8 hours early start 16 hours late. */
  readonly offsetMs?: number;
}

export type OnError =
  | { readonly action: "fail" }
  | { readonly action: "skip" }
  | { readonly action: "deadLetter"; readonly sink: string };

interface NodeBase {
  /** Unique in the pipeline; given by the user, or derived from kind and place ("map-2"). */
  readonly id: string;
}
export interface SourceNode extends NodeBase {
  readonly kind: "source";
  readonly source: SourceDescription;
}
export interface MapNode extends NodeBase {
  readonly kind: "map";
  readonly input: string;
  readonly apply: (value: never, metadata: RecordMetadata<never>) => unknown;
}
export interface FilterNode extends NodeBase {
  readonly kind: "filter";
  readonly input: string;
  readonly apply: (value: never, metadata: RecordMetadata<never>) => unknown;
}
export interface FlatMapNode extends NodeBase {
  readonly kind: "flatMap";
  readonly input: string;
  readonly apply: (value: never, metadata: RecordMetadata<never>) => Iterable<unknown>;
  /** What `apply` does to a text, where the engine knows. */
  readonly split?: TextSplit;
}
/** Makes a row of each value: fields in this order, each by a JSON pointer into the value. */
export interface SelectNode extends NodeBase {
  readonly kind: "select";
  readonly input: string;
  readonly fields: Readonly<Record<string, string>>;
}
export interface KeyByNode extends NodeBase {
  readonly kind: "keyBy";
  readonly input: string;
  /** Where it is the pointer "", as of `.keyBy()`, the values themselves are the keys. */
  readonly apply: (value: never, metadata: RecordMetadata<never>) => Key;
}
/** A keyed, windowed aggregation. It reads in one stage (combining before the shuffle), and lives in the next. */
export interface WindowNode extends NodeBase {
  readonly kind: "window";
  /** The keyBy node. */
  readonly input: string;
  readonly window: WindowAssigner;
  readonly allowedLatenessMs: number;
  /** Sink of late records. */
  readonly late: string | undefined;
  readonly aggregates: Readonly<Record<string, Aggregate<never, unknown, unknown>>>;
}
/** A running aggregation: keyed, without windows. It reads in one stage and lives in the next, as a `WindowNode`. */
export interface AggregateNode extends NodeBase {
  readonly kind: "aggregate";
  /** The keyBy node. */
  readonly input: string;
  /** Milliseconds of event time after which a key without records is forgotten; absent: never. */
  readonly expireAfterMs?: number;
  readonly aggregates: Readonly<Record<string, Aggregate<never, unknown, unknown>>>;
}
export interface SinkNode extends NodeBase {
  readonly kind: "sink";
  readonly input: string;
}
/** A node that keeps state by key. */
export type StatefulNode = WindowNode | AggregateNode;
export type Node = SourceNode | MapNode | FilterNode | FlatMapNode | SelectNode | KeyByNode | StatefulNode | SinkNode;

export function isStateful(node: Node): node is StatefulNode {
  return node.kind === "window" || node.kind === "aggregate";
}

/**
 * A stage: what one task does between two shuffles. Stage 0 reads the source; each later one reads the shuffle that the
 * stages before it fill. Room for joins and unions: `inputs` may grow kinds, `operators` may grow node kinds.
 */
export interface Stage {
  readonly index: number;
  /** Stateful nodes that live here: their merged state, firing, and what follows. Empty in stage 0. */
  readonly operators: readonly string[];
  /** Stateful nodes of the next stage that this one combines and shuffles for. */
  readonly shuffles: readonly string[];
  /** Sinks written by this stage, late and dead-letter sinks included. */
  readonly sinks: readonly string[];
}

/** What a failure may do to output (docs/guarantees.md). */
export const guarantees = ["exactly-once", "at-least-once", "at-most-once"] as const;
export type Guarantee = (typeof guarantees)[number];

/**
 * A whole pipeline as data; functions are its leaves, and one that was made of a JSON pointer says so (`pointerOf`). Everything below the DSL reads this and
 * nothing else.
 */
export interface Topology {
  readonly name: string;
  readonly guarantee: Guarantee;
  readonly onError: OnError;
  /** Number of key groups: set once, since state is laid out by it. */
  readonly keyGroups: number;
  /** In the order of definition: an input stands before its users. The first is the source. */
  readonly nodes: readonly Node[];
  readonly stages: readonly Stage[];
  /** All sinks by id: outputs, late records, dead letters. */
  readonly sinks: Readonly<Record<string, SinkDescription>>;
  readonly parameters: readonly Parameter[];
}

/** What a late sink gets: the value, and the window that it missed. */
export interface LateRow<K = unknown, T = unknown> {
  readonly key: K;
  readonly value: T;
  readonly timestamp: number;
  readonly windowStart: number;
  readonly windowEnd: number;
}

/** Bytes as JSON can hold them: a text where they are UTF-8. */
export type DeadLetterBytes = string | { readonly base64: string } | null;

/** What the source knows of a record beside its value and place, so that `epochflow replay` can write it once more, as it was. */
export interface DeadLetterRecord {
  /** Kind of the source: "kafka", "files". */
  readonly source: string;
  /** Of a source whose records have keys, headers (in order; a name may come twice) and times (epoch milliseconds) of their own. */
  readonly key?: DeadLetterBytes;
  readonly headers?: readonly (readonly [name: string, value: DeadLetterBytes])[];
  readonly timestamp?: number;
  /** The record was too large for the source: `value` is its beginning only. */
  readonly truncated?: true;
}

/**
 * What a dead-letter sink gets. With `record`, a record of the source failed, and `value` is its bytes (`DeadLetterBytes`); it lies in `partition` (of Kafka
 * `topic/partition`, of files the name below the input folder) at `offset`. Without, it is a row that an aggregate made, or, where `merge` or `result` threw, the
 * accumulators by name. `key` and the window are those of the aggregate, where one is concerned. Nothing in it depends on attempts, clocks or the cut into
 * epochs (I6).
 */
export interface DeadLetterRow {
  readonly error: string;
  readonly operator: string;
  readonly partition: string;
  readonly offset: number;
  readonly value: unknown;
  readonly record?: DeadLetterRecord;
  readonly key?: unknown;
  /** Epoch milliseconds. */
  readonly windowStart?: number;
  readonly windowEnd?: number;
}
