import type { Aggregate } from "../operators/aggregates.ts";
import { checkOptions } from "../options.ts";
import { checkAggregates, checkFields, checkSink } from "./checks.ts";
import { checkDuration } from "./durations.ts";
import { type Definition, type Graph, graphOf, type OperatorOptions } from "./graph.ts";
import { toKeySelector, toSelector } from "./pointer.ts";
import type { At, KeyAt, KeysAt, Pointer, PointerTo, Selected } from "./pointer-types.ts";
import { checkSeparator, splitFunction, type TextSplit } from "./text-split.ts";
import type {
  Key,
  KeyByNode,
  KeyPart,
  LateRow,
  Node,
  RecordMetadata,
  SinkDescription,
  WindowAssigner,
} from "./topology.ts";
import { checkWindow } from "./windows.ts";

/** What `.window` takes beside the windows. */
export interface WindowOptions<K, T> extends OperatorOptions {
  /** Milliseconds of event time that a window goes on taking records, and firing again, after its end; default 0. */
  readonly allowedLateness?: number;
  /** Gets each record that came later than that, once for each window that it missed. Without it they are counted only. */
  readonly late?: SinkDescription<LateRow<K, T>>;
}

type Flat<T> = { readonly [Name in keyof T]: T[Name] };

/** What `.aggregate` takes where there are no windows. */
export interface AggregateOptions extends OperatorOptions {
  /**
   * Milliseconds of event time after which a key is forgotten: a record that is so much later than the latest of its key begins anew. Without it keys are kept
   * for ever. May be changed at any time.
   */
  readonly expireAfter?: number;
}

/** A row that a running aggregation makes per key: a column for each aggregate. */
export type AggregateRow<K, R> = Flat<{ key: K } & R>;

/** A row that an aggregation makes per key and window: times in epoch milliseconds, and a column for each aggregate. */
export type WindowRow<K, R> = Flat<{ key: K; windowStart: number; windowEnd: number } & R>;

/**
 * Values of type T in event time, of records whose keys are an M. A handle is an immutable value: each method makes another one, so a stream may be used
 * several times. Functions must be pure and synchronous: they run again when an epoch is tried again. Where a function would merely pick a field, a JSON pointer
 * (RFC 6901) such as "/user/id" can stand in its place, which the engine understands.
 */
export class Stream<out T, out M = string | undefined> implements Definition {
  readonly [graphOf]: Graph;
  readonly #node: string;

  constructor(graph: Graph, node: string) {
    this[graphOf] = graph;
    this.#node = node;
  }

  // The form with a function is the last one everywhere: where none fits, it is what TypeScript explains.
  map<V, N, const P extends Pointer<V>>(this: Stream<V, N>, pointer: P, options?: OperatorOptions): Stream<At<V, P>, N>;
  map<R>(apply: (value: T, metadata: RecordMetadata<M>) => R, options?: OperatorOptions): Stream<R, M>;
  map(apply: string | ((value: T, metadata: RecordMetadata<M>) => unknown), options?: OperatorOptions) {
    return this.#then("map", apply, options);
  }

  /**
   * Makes a row of each value: `.select({ word: "/key", count: "/count" })` gives `{ word, count }`, in this order. A field whose pointer leads to nothing is left out
   * of the row, as JSON leaves out what is undefined.
   *
   * @throws UsageError `invalid-argument`, or `invalid-pointer` for a text that is none
   */
  select<V, N, const Fields extends Readonly<Record<string, Pointer<V>>>>(
    this: Stream<V, N>,
    fields: Fields,
    options?: OperatorOptions,
  ): Stream<Selected<V, Fields>, N> {
    const checked = checkFields(fields);
    const graph = this[graphOf];
    const id = graph.name("select", options);
    graph.nodes.push({ id, kind: "select", input: this.#node, fields: checked });
    return new Stream(graph, id);
  }

  /** Keeps what `apply` is true for. A type guard narrows the stream's type. */
  filter<V, N>(this: Stream<V, N>, pointer: PointerTo<V, boolean>, options?: OperatorOptions): Stream<V, N>;
  filter<S extends T>(
    apply: (value: T, metadata: RecordMetadata<M>) => value is S,
    options?: OperatorOptions,
  ): Stream<S, M>;
  filter(apply: (value: T, metadata: RecordMetadata<M>) => boolean, options?: OperatorOptions): Stream<T, M>;
  filter(apply: string | ((value: T, metadata: RecordMetadata<M>) => boolean), options?: OperatorOptions) {
    return this.#then<T>("filter", apply, options);
  }

  /** Each value becomes any number of values. */
  flatMap<V, N, const P extends PointerTo<V, Iterable<unknown>>>(
    this: Stream<V, N>,
    pointer: P,
    options?: OperatorOptions,
  ): Stream<At<V, P> extends Iterable<infer R> ? R : unknown, N>;
  flatMap<R>(apply: (value: T, metadata: RecordMetadata<M>) => Iterable<R>, options?: OperatorOptions): Stream<R, M>;
  flatMap(apply: string | ((value: T, metadata: RecordMetadata<M>) => Iterable<unknown>), options?: OperatorOptions) {
    return this.#then("flatMap", apply, options);
  }

  /** Each text becomes its words: the runs of characters between ASCII white space. Texts of a source stay bytes on the way. */
  words(this: Stream<string, M>, options?: OperatorOptions): Stream<string, M> {
    return this.#split("words", {}, options);
  }

  /**
   * Each text becomes its parts between the separators, empty ones too, as of `String.prototype.split`. Texts of a source stay bytes on the way.
   *
   * @throws UsageError `invalid-argument` for an empty separator
   */
  split(this: Stream<string, M>, separator: string, options?: OperatorOptions): Stream<string, M> {
    return this.#split("split", { separator: checkSeparator(separator) }, options);
  }

  /**
   * Groups by a key: a string, a finite number, a boolean, a bigint, or a tuple of them. A JSON pointer names the field that is the key, "/user/id", and a list of
   * pointers the parts of a tuple. Without either the values themselves are the keys.
   */
  keyBy<K extends Key>(this: Stream<K, M>, options?: OperatorOptions): KeyedStream<K, K>;
  keyBy<V, const P extends PointerTo<V, Key>>(
    this: Stream<V, unknown>,
    pointer: P,
    options?: OperatorOptions,
  ): KeyedStream<KeyAt<V, P>, V>;
  keyBy<V, const P extends readonly PointerTo<V, KeyPart>[]>(
    this: Stream<V, unknown>,
    pointers: P,
    options?: OperatorOptions,
  ): KeyedStream<KeysAt<V, P>, V>;
  keyBy<const K extends Key>(
    apply: (value: T, metadata: RecordMetadata<M>) => K,
    options?: OperatorOptions,
  ): KeyedStream<K, T>;
  keyBy(first?: unknown, second?: OperatorOptions): KeyedStream<Key, T> {
    const hasOptionsOnly = typeof first === "object" && first !== null && !Array.isArray(first);
    const by = hasOptionsOnly || first === undefined ? "" : first;
    const apply = toKeySelector<KeyByNode["apply"]>(".keyBy()", by as string);
    const graph = this[graphOf];
    const id = graph.name("keyBy", hasOptionsOnly ? first : second);
    graph.nodes.push({ id, kind: "keyBy", input: this.#node, apply });
    return new KeyedStream(graph, id);
  }

  /** Writes every value to a sink; returns this very stream, so that one may go on from here. */
  to(sink: SinkDescription<T>, options?: OperatorOptions): this {
    checkSink(".to()", sink);
    const graph = this[graphOf];
    const id = graph.name("sink", options);
    graph.nodes.push({ id, kind: "sink", input: this.#node });
    graph.sinks.set(id, sink);
    return this;
  }

  #split(name: "words" | "split", split: TextSplit, options?: OperatorOptions): Stream<string, M> {
    const graph = this[graphOf];
    const id = graph.name(name, options);
    graph.nodes.push({ id, kind: "flatMap", input: this.#node, apply: splitFunction(split), split });
    return new Stream(graph, id);
  }

  #then<R>(
    kind: "map" | "filter" | "flatMap",
    given: string | ((...parameters: never[]) => unknown),
    options?: OperatorOptions,
  ): Stream<R, M> {
    const apply = toSelector(`.${kind}()`, given);
    const graph = this[graphOf];
    const id = graph.name(kind, options);
    graph.nodes.push({ id, kind, input: this.#node, apply } as Node);
    return new Stream(graph, id);
  }
}

/** A stream grouped by a key: `.aggregate` keeps one result a key, `.window` says which values belong together in time. */
export class KeyedStream<out K extends Key, out T> implements Definition {
  readonly [graphOf]: Graph;
  readonly #node: string;

  constructor(graph: Graph, node: string) {
    this[graphOf] = graph;
    this.#node = node;
  }

  window(window: WindowAssigner, options: WindowOptions<K, T> = {}): WindowedStream<K, T> {
    checkOptions(".window()", options, ["id", "allowedLateness", "late"]);
    checkDuration("allowedLateness of .window()", options.allowedLateness ?? 0);
    if (options.late !== undefined) checkSink("late of .window()", options.late);
    return new WindowedStream(this[graphOf], this.#node, checkWindow(window), options);
  }

  /**
   * Running aggregates over all values of a key, without windows: at the end of each epoch a row for each key that the epoch changed, which takes the place
   * of the key's last one, as in a changelog. Its event time is the latest of its key so far. Nothing is ever late. Names become columns; `key`, `windowStart` and
   * `windowEnd` are taken.
   */
  aggregate<R>(
    aggregates: { readonly [Name in keyof R]: Aggregate<T, unknown, R[Name]> },
    options: AggregateOptions = {},
  ): Stream<AggregateRow<K, R>, undefined> {
    checkAggregates(aggregates);
    checkOptions(".aggregate()", options, ["id", "expireAfter"]);
    const { expireAfter, ...named } = options;
    if (expireAfter !== undefined) checkDuration("expireAfter of .aggregate()", expireAfter, 1);
    const graph = this[graphOf];
    const id = graph.name("aggregate", named);
    const lifetime = expireAfter === undefined ? {} : { expireAfterMs: expireAfter };
    graph.nodes.push({ id, kind: "aggregate", input: this.#node, ...lifetime, aggregates });
    return new Stream(graph, id);
  }
}

/** A stream grouped by key and window; `.aggregate` makes rows of it. */
export class WindowedStream<out K extends Key, out T> implements Definition {
  readonly [graphOf]: Graph;
  readonly #keyBy: string;
  readonly #window: WindowAssigner;
  readonly #options: WindowOptions<never, never>;

  constructor(graph: Graph, keyBy: string, window: WindowAssigner, options: WindowOptions<never, never>) {
    this[graphOf] = graph;
    this.#keyBy = keyBy;
    this.#window = window;
    this.#options = options;
  }

  /**
   * One row per key and window when the watermark passes the window's end, and another, which takes its place, in each later epoch that
   * changes it within the allowed lateness. Names become columns; `key`, `windowStart` and `windowEnd` are taken.
   */
  aggregate<R>(
    aggregates: { readonly [Name in keyof R]: Aggregate<T, unknown, R[Name]> },
  ): Stream<WindowRow<K, R>, undefined> {
    checkAggregates(aggregates);
    const graph = this[graphOf];
    const { late, allowedLateness: allowedLatenessMs = 0, ...named } = this.#options;
    const id = graph.name("window", named);
    const lateId = late && graph.addSideSink(`${id}-late`, late);
    graph.nodes.push({
      id,
      kind: "window",
      input: this.#keyBy,
      window: this.#window,
      allowedLatenessMs,
      late: lateId,
      aggregates,
    });
    return new Stream(graph, id);
  }
}
