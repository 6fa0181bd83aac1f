import assert from "node:assert/strict";
import { test } from "node:test";
import {
  count,
  deadLetter,
  files,
  hours,
  json,
  type OperatorOptions,
  pipeline,
  sliding,
  sum,
  text,
  tumbling,
} from "../index.ts";
import { describe } from "./describe.ts";

const source = () => files.source({ path: "in", value: text() });
const sink = (path = "out") => files.sink({ path });
const lines = (options?: Parameters<typeof pipeline>[1]) => pipeline("demo", options).from(source());
const ids = (definition: unknown) => describe(definition).nodes.map((node) => node.id);

test("a pipeline without keys has one stage", () => {
  const topology = describe(
    lines()
      .map((line) => line.length)
      .to(sink()),
  );
  assert.equal(topology.name, "demo");
  assert.deepEqual(topology.onError, { action: "fail" });
  assert.equal(topology.keyGroups, 128);
  assert.equal(topology.guarantee, "exactly-once");
  assert.deepEqual(topology.stages, [{ index: 0, operators: [], shuffles: [], sinks: ["sink-1"] }]);
  assert.deepEqual(
    topology.nodes.map((node) => [node.kind, node.id, "input" in node ? node.input : undefined]),
    [
      ["source", "source-1", undefined],
      ["map", "map-1", "source-1"],
      ["sink", "sink-1", "map-1"],
    ],
  );
});

test("a window lives in the stage after its shuffle, with all that follows; late records are seen before it", () => {
  const stream = lines({ onError: deadLetter(sink("bad")) });
  const byLine = stream.keyBy((line) => line, { id: "by-line" });
  byLine
    .window(tumbling(hours(1)), { id: "hourly", late: sink("late"), allowedLateness: 5 })
    .aggregate({ count: count() })
    .to(sink(), { id: "hours" });
  byLine
    .window(sliding({ size: 10, every: 3 }))
    .aggregate({ count: count() })
    .to(sink());
  stream.to(sink("raw"), { id: "raw" });
  const { stages, nodes, sinks } = describe(stream);
  assert.deepEqual(stages, [
    { index: 0, operators: [], shuffles: ["hourly", "window-2"], sinks: ["raw", "hourly-late", "dead-letter"] },
    { index: 1, operators: ["hourly", "window-2"], shuffles: [], sinks: ["hours", "sink-2", "dead-letter"] },
  ]);
  assert.deepEqual(Object.keys(sinks).sort(), ["dead-letter", "hourly-late", "hours", "raw", "sink-2"]);
  const hourly = nodes.find((node) => node.id === "hourly");
  assert(hourly?.kind === "window");
  assert.deepEqual([hourly.input, hourly.allowedLatenessMs, hourly.late], ["by-line", 5, "hourly-late"]);
  assert.deepEqual(hourly.window, tumbling(hours(1)));
});

test("running aggregates live in the stage after their shuffle, beside windows of the same keys", () => {
  const stream = lines();
  const byLine = stream.keyBy((line) => line);
  byLine
    .window(tumbling(hours(1)))
    .aggregate({ count: count() })
    .to(sink(), { id: "hours" });
  byLine.aggregate({ count: count() }).to(sink(), { id: "ever" });
  byLine.aggregate({ count: count() }, { id: "recent", expireAfter: hours(2) }).to(sink(), { id: "late" });
  const { stages, nodes } = describe(stream);
  assert.deepEqual(stages, [
    { index: 0, operators: [], shuffles: ["window-1", "aggregate-1", "recent"], sinks: [] },
    { index: 1, operators: ["window-1", "aggregate-1", "recent"], shuffles: [], sinks: ["hours", "ever", "late"] },
  ]);
  const running = nodes.filter((node) => node.kind === "aggregate");
  assert.deepEqual(
    running.map(({ id, input, expireAfterMs }) => [id, input, expireAfterMs]),
    [
      ["aggregate-1", "key-by-1", undefined],
      ["recent", "key-by-1", hours(2)],
    ],
  );
  const again = byLine
    .aggregate({ count: count() })
    .keyBy(({ count }) => count)
    .aggregate({ count: count() })
    .to(sink());
  assert.throws(() => describe(again), { code: "second-shuffle", message: /^aggregate-4/ });
});

test("branches share one graph, which any of the handles shows", () => {
  const demo = pipeline("demo");
  const stream = demo.from(source());
  assert.equal(stream.to(sink("a")), stream);
  stream.filter((line) => line !== "").to(sink("b"));
  assert.deepEqual(describe(demo), describe(stream));
  assert.deepEqual(ids(stream), ["source-1", "sink-1", "filter-1", "sink-2"]);
});

test("a derived id says the place among the nodes of its kind, however the others are named", () => {
  const chain = (options?: OperatorOptions) =>
    lines()
      .flatMap((line) => line.split(" "), options)
      .flatMap((line) => line.split(","))
      .to(sink());
  assert.deepEqual(ids(chain()), ["source-1", "flat-map-1", "flat-map-2", "sink-1"]);
  assert.deepEqual(ids(chain({ id: "split" })), ["source-1", "split", "flat-map-2", "sink-1"]);
});

test("two things of one id are refused", () => {
  const same = { id: "same" };
  assert.throws(() => lines().map(String, same).filter(Boolean, same), { code: "duplicate-id", message: /"same"/ });
  assert.throws(() => lines().to(sink(), same).to(sink(), same), { code: "duplicate-id" });
  const dead = lines({ onError: deadLetter(sink()) });
  assert.throws(() => dead.to(sink(), { id: "dead-letter" }), { code: "duplicate-id" });
  assert.throws(() => lines().map(String, { id: "map-2" }).map(String), { code: "duplicate-id" });
});

test("what is incomplete is refused, with the way out", () => {
  const refused = (definition: unknown, code: string, wayOut: RegExp) =>
    assert.throws(() => describe(definition), { code, wayOut });
  refused(pipeline("demo"), "no-source", /\.from/);
  refused(lines(), "no-sink", /\.to/);
  refused(
    lines().keyBy((line) => line),
    "no-sink",
    /\.to/,
  );
  const saved = lines().to(sink());
  saved.keyBy((line) => line).window(tumbling(1));
  refused(saved, "loose-end", /\.window\(…\)\.aggregate/);
  refused(lines().to(sink()).map(String), "loose-end", /\.to\(sink\)/);
  for (const other of [undefined, null, 5, {}, "demo", pipeline]) refused(other, "not-a-pipeline", /export default/);
});

test("a second source, and a second shuffle, are refused for now", () => {
  const demo = pipeline("demo");
  demo.from(source());
  assert.throws(() => demo.from(source()), { code: "several-sources" });
  const counted = lines()
    .keyBy((line) => line)
    .window(tumbling(1))
    .aggregate({ count: count() });
  const again = counted
    .keyBy((row) => row.count)
    .window(tumbling(2))
    .aggregate({ count: count() })
    .to(sink());
  assert.throws(() => describe(again), { code: "second-shuffle", message: /window-2/ });
});

test("names are short and lower-case", () => {
  for (const name of ["", "Demo", "-demo", "de mo", "a".repeat(41), "dé", "a/b", undefined as never]) {
    assert.throws(() => pipeline(name), { code: "invalid-name" });
    if (name !== undefined) assert.throws(() => lines().map(String, { id: name }), { code: "invalid-name" });
  }
  pipeline("a".repeat(40));
  pipeline("0-a");
});

test("options and arguments are checked where they are given", () => {
  const usage = (call: () => unknown, code: string, message: RegExp) => assert.throws(call, { code, message });
  usage(() => pipeline("demo", { keyGrups: 1 } as never), "unknown-option", /"keyGroups"/);
  usage(() => pipeline("demo", { onError: "skipp" as never }), "invalid-option", /"skip"/);
  usage(() => pipeline("demo", { onError: null as never }), "invalid-option", /null/);
  usage(() => pipeline("demo", { onError: {} as never }), "invalid-argument", /onError: deadLetter\(\) takes a sink/);
  usage(() => pipeline("demo", { guarantee: "at-leats-once" as never }), "invalid-option", /"at-least-once"/);
  for (const keyGroups of [0, 1.5, 32_769]) usage(() => pipeline("demo", { keyGroups }), "invalid-option", /keyGroups/);
  usage(() => pipeline("demo").from(sink() as never), "invalid-argument", /takes a source/);
  usage(
    () => lines().map(5 as never),
    "invalid-argument",
    /\.map\(\) takes a function or a JSON pointer, not a number/,
  );
  usage(() => lines().keyBy("x" as never), "invalid-pointer", /\.keyBy\(\) got "x", which is no JSON pointer/);
  usage(() => lines().keyBy(["/x", "y"] as never), "invalid-pointer", /\.keyBy\(\) got "y"/);
  usage(() => lines().select({} as never), "invalid-argument", /\.select\(\) takes the fields/);
  usage(() => lines().select({ word: "key" } as never), "invalid-pointer", /"word" of \.select\(\) got "key"/);
  usage(() => lines().select({ ["__proto__"]: "" }), "invalid-argument", /\.select\(\)/);
  usage(() => files.source({ path: "in", value: json(), timestamp: "at" as never }), "invalid-pointer", /timestamp of/);
  usage(() => sum("amount" as never), "invalid-pointer", /sum\(\) got "amount"/);
  usage(() => lines().map(String, { name: "x" } as never), "unknown-option", /\.map\(\) has no option "name"/);
  usage(() => lines().to({ path: "x" } as never), "invalid-argument", /takes a sink/);
  const keyed = lines().keyBy((line) => line);
  usage(() => keyed.window(tumbling(1), { allowedLateness: -1 }), "invalid-duration", /allowedLateness/);
  usage(() => keyed.window(tumbling(1), { late: "out" as never }), "invalid-argument", /late of/);
  usage(() => keyed.aggregate({ n: count() }, { expireAfter: 0 }), "invalid-duration", /expireAfter/);
  usage(() => keyed.aggregate({ n: count() }, { expire: 1 } as never), "unknown-option", /"expireAfter"/);
  usage(() => keyed.aggregate({ key: count() }), "invalid-aggregate", /"key"/);
  const windowed = keyed.window(tumbling(1));
  usage(() => windowed.aggregate({}), "invalid-aggregate", /got no aggregate/);
  usage(() => windowed.aggregate(undefined as never), "invalid-aggregate", /got no aggregate/);
  usage(
    () => windowed.aggregate({ n: count as never }),
    "invalid-aggregate",
    /"n", which is no aggregate but a function/,
  );
  for (const taken of ["key", "windowStart", "windowEnd", "__proto__"]) {
    usage(() => windowed.aggregate({ [taken]: count() }), "invalid-aggregate", new RegExp(taken));
  }
});
