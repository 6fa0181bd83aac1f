/**
 * What the compiler must infer and refuse. `tsc` is the judge: an `@ts-expect-error` that expects in vain is an error itself. That the
 * module runs is all that Node checks.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  type Aggregate,
  type At,
  aggregate,
  average,
  type CombinedLogEntry,
  collect,
  combinedLog,
  count,
  type DeadLetterRow,
  type Decoder,
  deadLetter,
  files,
  hours,
  json,
  type Key,
  type KeyPart,
  kafka,
  type LateRow,
  max,
  min,
  nullable,
  type Pointer,
  type PointerTo,
  parameter,
  pattern,
  pipeline,
  reduce,
  type SinkDescription,
  type Stream,
  sum,
  text,
  tumbling,
} from "../index.ts";

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;
type ValueOf<S> = S extends Stream<infer T, unknown> ? T : never;
type KeyOf<S> = S extends Stream<unknown, infer K> ? K : never;
type Decoded<D> = D extends Decoder<infer T> ? T : never;

/** `same<ValueOf<typeof stream>, string>()` compiles only if both types are equal. */
function same<A, B>(..._equal: Equal<A, B> extends true ? [] : ["types differ", A, B]): void {}

const path = "anywhere";
const entries = () =>
  pipeline("types").from(files.source({ path, value: combinedLog(), timestamp: (entry) => entry.time }));
const lines = () => pipeline("types").from(files.source({ path, value: text() }));
const sinkOf = <T>(): SinkDescription<T> => files.sink<T>({ path });

test("decoders give a source its type", () => {
  same<ValueOf<ReturnType<typeof entries>>, CombinedLogEntry>();
  same<ValueOf<ReturnType<typeof lines>>, string>();
  const unknown = json();
  same<Decoded<typeof unknown>, unknown>();
  const checked = json(z.object({ user: z.string(), age: z.string().transform(Number) }));
  same<Decoded<typeof checked>, { user: string; age: number }>();
  const matched = pattern<"time" | "status">(/^(?<time>\S+) (?<status>\d+)$/);
  same<Decoded<typeof matched>, Readonly<Record<"time" | "status", string>>>();
  const own = pipeline("types").from(
    files.source({ path, value: (line) => ({ length: line.length }), timestamp: (value) => value.length }),
  );
  same<ValueOf<typeof own>, { length: number }>();
  // @ts-expect-error a text has no time
  files.source({ path, value: text(), timestamp: (line) => line.time });
  // @ts-expect-error the event time is a number
  files.source({ path, value: text(), timestamp: (line) => line });
});

test("values keep their types along the chain", () => {
  const mapped = lines().map((line, { offset }) => ({ line, offset }));
  same<ValueOf<typeof mapped>, { line: string; offset: number }>();
  const flat = lines().flatMap((line) => line.split(" ").map(Number));
  same<ValueOf<typeof flat>, number>();
  const narrowed = lines()
    .map((line): string | undefined => line || undefined)
    .filter((line) => line !== undefined);
  same<ValueOf<typeof narrowed>, string>();
  const kept = lines().filter((line) => line.length > 1);
  same<ValueOf<typeof kept>, string>();
  // @ts-expect-error a promise is not a boolean
  lines().filter(async (line) => line.length > 1);
  // @ts-expect-error a text has no status
  lines().map((line) => line.status);
  // @ts-expect-error a number cannot be iterated
  lines().flatMap((line) => line.length);
});

test("texts are cut into texts, and other values are not", () => {
  const words = lines().words().split(",", { id: "parts" }).words({ id: "again" });
  same<ValueOf<typeof words>, string>();
  const ofKafka = pipeline("types").from(kafka.source({ topic: "in", value: text() }));
  same<KeyOf<ReturnType<typeof ofKafka.words>>, string | undefined>();
  // @ts-expect-error an entry is no text
  entries().words();
  // @ts-expect-error nor is a number
  lines()
    .map((line) => line.length)
    .split(",");
  // @ts-expect-error a pattern is no separator
  assert.throws(() => lines().split(/,/));
  // @ts-expect-error there is no default separator
  assert.throws(() => lines().split());
});

test("without a function the value is the key", () => {
  const visits = { visits: count() };
  const byLine = lines().keyBy().aggregate(visits);
  same<ValueOf<typeof byLine>["key"], string>();
  const pairs = lines()
    .map((line): [string, number] => [line, line.length])
    .keyBy({ id: "pairs" })
    .aggregate(visits);
  same<ValueOf<typeof pairs>["key"], [string, number]>();
  // @ts-expect-error an object is no key
  entries().keyBy();
  // @ts-expect-error nor with options
  entries().keyBy({ id: "entry" });
});

test("keys keep their types, tuples too", () => {
  const window = tumbling(hours(1));
  const rows = entries()
    .keyBy((entry) => entry.status)
    .window(window)
    .aggregate({ visits: count() });
  type Row = {
    readonly key: string;
    readonly windowStart: number;
    readonly windowEnd: number;
    readonly visits: number;
  };
  same<ValueOf<typeof rows>, Row>();
  const pairs = entries()
    .keyBy((entry) => [entry.host, entry.bytes])
    .window(window)
    .aggregate({ visits: count() })
    .map(({ key }) => key);
  same<ValueOf<typeof pairs>, readonly [string, number]>();
  const huge = entries()
    .keyBy((entry) => BigInt(entry.bytes))
    .window(window)
    .aggregate({ visits: count() });
  same<ValueOf<typeof huge>["key"], bigint>();
  // @ts-expect-error an object is no key
  entries().keyBy((entry) => ({ status: entry.status }));
  // @ts-expect-error nor is undefined
  entries().keyBy((entry) => (entry.bytes > 0 ? entry.status : undefined));
  // @ts-expect-error nor is a tuple with an object in it
  entries().keyBy((entry) => [entry.status, new Date(entry.time)]);
});

test("aggregates know the values that they fold", () => {
  const windows = () =>
    entries()
      .keyBy((entry) => entry.status)
      .window(tumbling(hours(1)));
  const rows = windows().aggregate({
    visits: count(),
    bytes: sum((entry) => entry.bytes),
    mean: average((entry) => entry.bytes),
    last: max((entry) => entry.time),
    entries: collect(),
    paths: collect((entry) => entry.path),
    longest: reduce((left, right) => (left.bytes < right.bytes ? right : left)),
    hosts: aggregate({
      init: () => new Map<string, number>(),
      add: (hosts, entry) => hosts.set(entry.host, entry.time),
      merge: (hosts, others) => new Map([...hosts, ...others]),
      result: (hosts) => [...hosts.keys()],
    }),
  });
  same<
    ValueOf<typeof rows>,
    {
      readonly key: string;
      readonly windowStart: number;
      readonly windowEnd: number;
      readonly visits: number;
      readonly bytes: number;
      readonly mean: number;
      readonly last: number;
      readonly entries: CombinedLogEntry[];
      readonly paths: string[];
      readonly longest: CombinedLogEntry;
      readonly hosts: string[];
    }
  >();
  // @ts-expect-error sum takes numbers
  windows().aggregate({ bytes: sum((entry) => entry.status) });
  // @ts-expect-error an entry has no size
  windows().aggregate({ bytes: sum((entry) => entry.size) });
  // @ts-expect-error these are not the values of this stream
  windows().aggregate({ bytes: sum((entry: { size: number }) => entry.size) });
  // @ts-expect-error nor do all values of this stream have a size
  windows().aggregate({ bytes: sum((entry: CombinedLogEntry & { size: number }) => entry.size) });
  assert.throws(() => {
    // @ts-expect-error only the named form exists
    windows().aggregate(count());
  });
});

test("running aggregates have a row a key, without times of windows", () => {
  const byStatus = () => entries().keyBy((entry) => [entry.status, entry.bytes]);
  const rows = byStatus().aggregate({ visits: count(), paths: collect((entry) => entry.path) }, { expireAfter: 1 });
  type Row = { readonly key: readonly [string, number]; readonly visits: number; readonly paths: string[] };
  same<ValueOf<typeof rows>, Row>();
  same<KeyOf<typeof rows>, undefined>();
  // @ts-expect-error there is no window
  rows.map((row) => row.windowStart);
  // @ts-expect-error an entry has no size
  byStatus().aggregate({ bytes: sum((entry) => entry.size) });
  assert.throws(() => {
    // @ts-expect-error nothing is late
    byStatus().aggregate({ visits: count() }, { allowedLateness: 5 });
  });
});

test("a stream of some values is a stream of more general ones", () => {
  const general: Stream<{ readonly status: string }> = entries();
  const anything: Stream<unknown> = general;
  // @ts-expect-error but not the other way round
  const special: Stream<CombinedLogEntry> = anything;
  assert.equal(special, general);
});

test("a sink takes what its stream gives", () => {
  lines().to(files.sink({ path })).to(sinkOf<string>()).to(sinkOf<unknown>()).to(sinkOf<string | number>());
  // @ts-expect-error a source is no sink
  assert.throws(() => lines().to(files.source({ path, value: text() })), /takes a sink, not a source/);
  // @ts-expect-error a sink of numbers takes no texts
  lines().to(sinkOf<number>());
  const counted = entries().keyBy((entry) => [entry.status, entry.bytes]);
  counted.window(tumbling(1), { late: sinkOf<LateRow<readonly [string, number], CombinedLogEntry>>() });
  counted.window(tumbling(1), { late: files.sink({ path }) });
  // @ts-expect-error keys of late rows are pairs here
  counted.window(tumbling(1), { late: sinkOf<LateRow<string, CombinedLogEntry>>() });
  pipeline("types", { onError: deadLetter(sinkOf<DeadLetterRow>()) });
  pipeline("types", { onError: deadLetter(files.sink({ path })) });
  // @ts-expect-error dead letters are rows with an error
  pipeline("types", { onError: deadLetter(sinkOf<string>()) });
});

test("keys of records keep their type along the chain, and rows of aggregates have none", () => {
  const value = text();
  const texts = pipeline("types").from(kafka.source({ topic: "t", value }));
  same<KeyOf<typeof texts>, string | undefined>();
  const key = json(z.object({ id: z.number() }));
  const records = pipeline("types").from(kafka.source({ topic: "t", value, key }));
  const kept = records.map((line, metadata) => ({ line, id: metadata.key?.id })).filter(({ line }) => line !== "");
  same<KeyOf<typeof kept>, { id: number } | undefined>();
  same<ValueOf<typeof kept>, { line: string; id: number | undefined }>();
  // @ts-expect-error there may be no key
  records.map((_, metadata) => metadata.key.id);
  records.keyBy((_, metadata) => metadata.key?.id ?? 0);
  const rows = records
    .keyBy((line) => line)
    .window(tumbling(1))
    .aggregate({ visits: count() });
  same<KeyOf<typeof rows>, undefined>();
  const own = pipeline("types").from(kafka.source({ topic: "t", value, key: (bytes) => bytes.length }));
  same<KeyOf<typeof own>, number | undefined>();
});

test("a Kafka source's value may be null, and its time a function of it", () => {
  const records = pipeline("types").from(
    kafka.source({ topic: "t", value: nullable(json(z.object({ at: z.number() }))) }),
  );
  same<ValueOf<typeof records>, { at: number } | null>();
  kafka.source({ topic: "t", value: json(z.object({ at: z.number() })), timestamp: ({ at }) => at });
  // @ts-expect-error the value has no such member
  kafka.source({ topic: "t", value: json(z.object({ at: z.number() })), timestamp: ({ time }) => time });
  assert.throws(() => {
    // @ts-expect-error either names or a pattern
    kafka.source({ topic: "t", pattern: /t/, value: text() });
  });
});

test("the functions of a Kafka sink know the rows of the stream that it is put to", () => {
  const rows = () =>
    pipeline("types")
      .from(kafka.source({ topic: parameter("input"), value: text() }))
      .keyBy((word) => word)
      .window(tumbling(1))
      .aggregate({ count: count() })
      .map(({ key, count }) => ({ word: key, count }));
  rows().to(kafka.sink({ topic: parameter("output"), key: (row) => row.word, value: json() }), { id: "counts" });
  rows().to(kafka.sink({ topic: "t", value: (row) => (row.count > 0 ? row.word : null) }));
  rows().to(
    kafka.sink({
      topic: (row) => `t-${row.word}`,
      markerTopic: "t",
      value: json(),
      headers: (row) => ({ word: row.word, raw: Buffer.of(1) }),
      timestamp: (row) => row.count,
    }),
  );
  rows().to(kafka.sink({ topic: "t", value: json(), partition: (row, partitions) => row.count % partitions }));
  lines().to(kafka.sink({ topic: "t", value: text() }));
  // @ts-expect-error rows are no texts
  rows().to(kafka.sink({ topic: "t", value: text() }));
  // @ts-expect-error a key is a text, bytes or null
  rows().to(kafka.sink({ topic: "t", key: (row) => row.count, value: json() }));
  // @ts-expect-error rows have no such column
  rows().to(kafka.sink({ topic: "t", key: (row) => row.words, value: json() }));
  assert.throws(() => {
    // @ts-expect-error a computed topic needs one for the marker
    rows().to(kafka.sink({ topic: (row) => row.word, value: json() }));
  });
  const reused = kafka.sink<{ word: string }>({ topic: "t", key: ({ word }) => word, value: json() });
  rows().to(reused);
  // @ts-expect-error texts have no word
  lines().to(reused);
  pipeline("types", { onError: deadLetter(kafka.sink({ topic: "t", key: (row) => row.partition, value: json() })) });
});

interface Order {
  readonly id: string;
  readonly customer: { readonly id: number; readonly name?: string } | null;
  readonly lines: readonly { readonly sku: string; readonly amount: number; readonly gift: boolean }[];
  readonly place: readonly [latitude: number, longitude: number];
  readonly labels: Readonly<Record<string, string>>;
  readonly total: number;
  readonly time: number;
  readonly paid: boolean;
  readonly "a/b~c": "x" | "y";
  readonly parent?: Order;
}

test("a pointer's type is what it leads to", () => {
  same<At<Order, "">, Order>();
  same<At<Order, "/id">, string>();
  same<At<Order, "/customer/id">, number | undefined>();
  same<At<Order, "/customer/name">, string | undefined>();
  same<At<Order, "/lines/0/amount">, number>();
  same<At<Order, "/lines/first">, undefined>();
  same<At<Order, "/place/1">, number>();
  same<At<Order, "/place/2">, undefined>();
  same<At<Order, "/labels/any">, string>();
  same<At<Order, "/a~1b~0c">, "x" | "y">();
  same<At<Order, "/parent/parent/parent/parent/total">, number | undefined>();
  same<At<Order, "/nothing">, undefined>();
  same<At<{ 1: "one" }, "/1">, "one">();
  same<At<unknown, "/any/thing">, unknown>();
  same<Pointer<unknown>, "" | `/${string}`>();
  same<Pointer<{ readonly a: string; readonly b?: { readonly c: number } }>, "" | "/a" | "/b" | "/b/c">();
  same<Pointer<readonly [string, { x: 1 }]>, "" | "/0" | "/1" | "/1/x">();
  same<PointerTo<{ a: string; b: number; c?: number }, number>, "/b">();
});

test("pointers stand in for functions, and a wrong one does not compile", () => {
  const value = json() as Decoder<unknown> as Decoder<Order>;
  const orders = () => pipeline("types").from(kafka.source({ topic: "t", value, timestamp: "/time" }));
  same<ValueOf<ReturnType<typeof orders>>, Order>();
  // @ts-expect-error the event time is a number
  kafka.source({ topic: "t", value, timestamp: "/id" });
  // @ts-expect-error an order has no such field
  files.source({ path, value, timestamp: "/at" });

  const rows = orders()
    .keyBy(["/id", "/place/0", "/a~1b~0c"])
    .window(tumbling(1))
    .aggregate({
      total: sum("/total"),
      least: min("/place/0"),
      most: max("/lines/0/amount"),
      mean: average("/total"),
      all: collect(),
      first: collect("/lines/0/sku"),
    });
  same<ValueOf<typeof rows>["key"], readonly [string, number, "x" | "y"]>();
  same<ValueOf<typeof rows>["total"], number>();
  same<ValueOf<typeof rows>["all"], Order[]>();
  same<ValueOf<typeof rows>["first"], string[]>();
  const selected = rows.select({ id: "/key/0", start: "/windowStart", first: "/first/0", mean: "/mean" });
  same<
    ValueOf<typeof selected>,
    { readonly id: string; readonly start: number; readonly first: string; readonly mean: number }
  >();
  selected.to(kafka.sink({ topic: "t", key: "/id", timestamp: "/start", value: json() }));
  selected.to(kafka.sink({ topic: "/id", markerTopic: "t", value: "/first", partition: "/mean" }));
  // @ts-expect-error a key is a text, bytes or null
  selected.to(kafka.sink({ topic: "t", key: "/mean", value: json() }));
  // @ts-expect-error rows have no such field
  selected.to(kafka.sink({ topic: "t", key: "/ids", value: json() }));
  // @ts-expect-error rows have no such field
  rows.select({ id: "/keys" });
  // @ts-expect-error a total has nothing in it
  rows.select({ id: "/total/0" });

  const byId = () => orders().keyBy("/id");
  const running = byId().aggregate({ visits: count(), total: sum((order) => order.total) });
  same<ValueOf<typeof running>["key"], string>();
  // @ts-expect-error there may be no customer
  orders().keyBy("/customer/id");
  // @ts-expect-error an object is no key
  orders().keyBy("/customer");
  // @ts-expect-error an order has no such field
  orders().keyBy("/ids");
  // @ts-expect-error one of them is no field
  orders().keyBy(["/id", "/ids"]);
  // @ts-expect-error not a number
  byId().aggregate({ total: sum("/id") });
  // @ts-expect-error no such field
  byId().aggregate({ total: max("/totals") });
  // @ts-expect-error no such field
  byId().aggregate({ total: collect("/totals") });

  const lines = orders().flatMap("/lines");
  same<ValueOf<typeof lines>, Order["lines"][number]>();
  const customers = orders().filter("/paid").map("/customer");
  same<ValueOf<typeof customers>, Order["customer"]>();
  same<KeyOf<typeof customers>, string | undefined>();
  // @ts-expect-error not a boolean
  orders().filter("/id");
  // @ts-expect-error not a list
  orders().flatMap("/total");
});

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type Wide = { readonly [Name in `field${Digit}${Digit}`]: Wide } & { readonly total: number; readonly time: number };

test("types that are wide and refer to themselves do not keep the compiler busy; deep pointers are possible", () => {
  const value = json() as Decoder<unknown> as Decoder<Wide>;
  const stream = pipeline("types").from(files.source({ path, value, timestamp: "/time" }));
  stream.keyBy("/field11/field22/field33/total").aggregate({ total: sum("/field11/field22/field33/total") });
  // @ts-expect-error no such field
  stream.keyBy("/field11/fields");
});

test("of unknown values any pointer is possible", () => {
  const events = () => pipeline("types").from(files.source({ path, value: json(), timestamp: "/time" }));
  const rows = events()
    .keyBy("/user/id")
    .aggregate({ total: sum("/amount"), all: collect("/x"), n: count() });
  same<
    ValueOf<typeof rows>,
    { readonly key: Key; readonly total: number; readonly all: unknown[]; readonly n: number }
  >();
  const pairs = events().keyBy(["/user", "/country"]).aggregate({ n: count() });
  same<ValueOf<typeof pairs>["key"], readonly [KeyPart, KeyPart]>();
  const selected = events().select({ user: "/user/id", whole: "" });
  same<ValueOf<typeof selected>, { readonly user: unknown; readonly whole: unknown }>();
  rows.to(kafka.sink({ topic: "t", key: "/key", value: json(), timestamp: "/total" }));
  // @ts-expect-error a number is no key of a record
  rows.to(kafka.sink({ topic: "t", key: "/total", value: json() }));
  const total: Aggregate<unknown, number, number> = sum("/amount");
  assert.equal(total.name, "sum");
  assert.throws(() => {
    // @ts-expect-error a pointer begins with a slash
    events().keyBy("user");
  });
  assert.throws(() => {
    // @ts-expect-error a pointer begins with a slash
    events().select({ user: "user" });
  });
});

test("options are checked", () => {
  assert.throws(() => {
    // @ts-expect-error there is no such policy
    pipeline("types", { onError: "ignore" });
  });
  assert.throws(() => {
    // @ts-expect-error misspelt
    files.source({ path, value: text(), outOfOder: 1 });
  });
});
