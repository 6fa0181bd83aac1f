import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError, UserCodeError } from "../errors.ts";
import { files } from "../pipeline/connectors/files.ts";
import { kafka } from "../pipeline/connectors/kafka.ts";
import type { DecoderLike } from "../pipeline/decoders/decoder.ts";
import { nullable } from "../pipeline/decoders/nullable.ts";
import { text } from "../pipeline/decoders/text.ts";
import { describe } from "../pipeline/describe.ts";
import type { Definition } from "../pipeline/graph.ts";
import { deadLetter, type PipelineOptions, pipeline } from "../pipeline/pipeline.ts";
import type { DeadLetterRow, Key, RecordMetadata } from "../pipeline/topology.ts";
import { sliding, tumbling } from "../pipeline/windows.ts";
import { count } from "./aggregates.ts";
import { SourceStage } from "./source-stage.ts";
import { batchOf, type TestRecord } from "./test-support.ts";

const sink = files.sink({ path: "out" });
const rejected = deadLetter(files.sink({ path: "rejected" }));

function lines(onError: NonNullable<PipelineOptions["onError"]> = "fail", timestamp?: (value: string) => number) {
  return pipeline("test", { onError }).from(
    files.source({ path: "in", value: text(), ...(timestamp && { timestamp }) }),
  );
}

interface Run {
  rows: Record<string, unknown[]>;
  /** Event time of each row. */
  times: Record<string, number[]>;
  stage: SourceStage;
}

function run(definition: Definition, records: readonly (string | TestRecord)[], watermark: number | null = null): Run {
  const rows: Record<string, unknown[]> = {};
  const times: Record<string, number[]> = {};
  const stage = new SourceStage({
    topology: describe(definition),
    watermark,
    processingTime: 77,
    write: (id, written, timeOf) => {
      rows[id] = [...(rows[id] ?? []), ...written];
      times[id] = [...(times[id] ?? []), ...written.map((_, index) => timeOf(index))];
    },
  });
  stage.begin("file");
  const given = records.map((record) => (typeof record === "string" ? { value: record } : record));
  stage.process(batchOf(given, 100));
  stage.end();
  return { rows, times, stage };
}

test("runs map, filter and flatMap, and branches, in order", () => {
  const stream = lines()
    .flatMap((line) => line.split(" "))
    .filter((word) => word !== "b");
  stream.map((word) => word.toUpperCase()).to(sink, { id: "upper" });
  const { rows, stage } = run(stream.to(sink, { id: "plain" }), ["a b", "", "c"]);
  assert.deepEqual(rows, { upper: ["A", "", "C"], plain: ["a", "", "c"] });
  assert.equal(stage.counts.records, 3);
  assert.equal(stage.counts.bytes, 4);
  assert.deepEqual(stage.counts.rows, { upper: 3, plain: 3 });
});

/** A sink that refuses the text "bad", and a late row of it. */
function refusing(definition: Definition, records: readonly TestRecord[]): Run {
  const rows: Record<string, unknown[]> = {};
  const stage = new SourceStage({
    topology: describe(definition),
    watermark: 50,
    processingTime: 77,
    write: (id, written, _, refused) => {
      const isBad = (row: unknown) => row === "bad" || (row as { value?: unknown }).value === "bad";
      for (const [index, row] of written.entries())
        if (isBad(row) && refused) refused(index, new UserCodeError("row-not-json", "no such row"));
        else rows[id] = [...(rows[id] ?? []), row];
    },
  });
  stage.begin("file");
  stage.process(batchOf(records, 100));
  stage.end();
  return { rows, times: {}, stage };
}

test("rows that a sink refuses follow onError, and are not counted as written", () => {
  const records = ["a", "bad", "b"].map((value) => ({ value }));
  const { rows, stage } = refusing(lines(rejected).to(sink, { id: "out" }), records);
  assert.deepEqual(rows.out, ["a", "b"]);
  const letter = { error: "no such row", operator: "out", partition: "file", offset: 110, value: "bad" };
  const record = { source: "files", key: null, headers: [] };
  assert.deepEqual(rows["dead-letter"], [{ ...letter, record }]);
  assert.deepEqual(stage.counts.rows, { out: 2, "dead-letter": 1 });
  assert.equal(refusing(lines("skip").to(sink, { id: "out" }), records).stage.counts.skipped, 1);
  const failing = () => refusing(lines().to(sink, { id: "out" }), records);
  assert.throws(failing, {
    code: "row-not-json",
    place: { pipeline: "test", operator: "out", partition: "file", offset: 110 },
  });
});

test("so do late rows, for each window that they missed", () => {
  const records = ["a", "bad"].map((value) => ({ value, timestamp: 25 }));
  const keyed = lines(rejected).keyBy((line) => line);
  const counted = keyed.window(sliding({ size: 20, every: 10 }), { late: sink }).aggregate({ n: count() });
  const { rows } = refusing(counted.to(sink), records);
  const late = rows["window-1-late"] as { value: string; windowStart: number }[];
  assert.deepEqual(
    late.map(({ value, windowStart }) => [value, windowStart]),
    [
      ["a", 10],
      ["a", 20],
    ],
  );
  const letters = rows["dead-letter"] as { offset: number; key: string; windowStart: number }[];
  assert.deepEqual(
    letters.map(({ offset, key, windowStart }) => [offset, key, windowStart]),
    [
      [110, "bad", 10],
      [110, "bad", 20],
    ],
  );
});

test("a sink has its rows for itself", () => {
  const written: unknown[][] = [];
  const stream = lines();
  stream.to(sink, { id: "one" });
  const topology = describe(stream.to(sink, { id: "two" }));
  const write = (_: string, rows: unknown[]) => written.push(rows.splice(0));
  const stage = new SourceStage({ topology, watermark: null, processingTime: 0, write });
  stage.process(batchOf([{ value: "a" }]));
  assert.deepEqual(written, [["a"], ["a"]]);
});

test("flatMap takes any iterable but a string, and all or none of it", () => {
  const make: Record<string, () => Iterable<string>> = {
    set: () => new Set(["x", "y"]),
    generator: function* () {
      yield "z";
    },
    broken: function* () {
      yield "half";
      throw new Error("broken");
    },
    text: () => "text",
    nothing: () => undefined as never,
    promise: () => Promise.resolve(["p"]) as never,
    promises: () => [Promise.reject(new Error("unheard"))] as never,
  };
  const { rows } = run(
    lines(rejected)
      .flatMap((name) => make[name]!())
      .to(sink, { id: "out" }),
    Object.keys(make),
  );
  assert.deepEqual(rows.out, ["x", "y", "z"]);
  assert.deepEqual(
    rows["dead-letter"]?.map((row) => [
      (row as { value: string }).value,
      (row as { error: string }).error.slice(0, 33),
    ]),
    [
      ["broken", "broken"],
      ["text", "a flatMap must return an array or"],
      ["nothing", "a flatMap must return an array or"],
      ["promise", "the function returned a promise, "],
      ["promises", "the function returned a promise, "],
    ],
  );
});

test("under fail the error names pipeline, operator, partition and offset, and keeps its cause", () => {
  const cause = new Error("boom");
  const stream = lines().map((line) => {
    if (line === "bad") throw cause;
    return line;
  });
  assert.throws(
    () => run(stream.to(sink), ["good", "bad", "good"]),
    (error) => {
      assert.ok(error instanceof UserCodeError);
      assert.equal(error.code, "function-failed");
      assert.equal(error.cause, cause);
      assert.equal(
        error.message,
        'Operator "map-1" of pipeline "test" failed on the record at offset 110 of "file": boom',
      );
      assert.deepEqual(error.place, { pipeline: "test", operator: "map-1", partition: "file", offset: 110 });
      return true;
    },
  );
});

test("under skip and deadLetter the others go on, and dead letters come in the order of records", () => {
  const definition = (onError: PipelineOptions["onError"]) =>
    lines(onError)
      .map((line) => JSON.parse(line) as number)
      .filter((value) => {
        if (value === 2) throw new Error("two");
        return true;
      })
      .to(sink, { id: "out" });
  const records = ["1", "2", "?", { value: Uint8Array.of(0x31, 0xff) }, { value: null }, "3"];
  const skip = run(definition("skip"), records);
  assert.deepEqual(skip.rows, { out: [1, 3] });
  assert.equal(skip.stage.counts.skipped, 4);
  const { rows, stage } = run(definition(rejected), records);
  assert.deepEqual(rows.out, [1, 3]);
  assert.equal(stage.counts.deadLettered, 4);
  const record = { source: "files", key: null, headers: [] };
  assert.deepEqual(
    rows["dead-letter"]?.map((row) => ({ ...(row as object), error: undefined })),
    [
      { error: undefined, operator: "filter-1", partition: "file", offset: 110, value: "2", record },
      { error: undefined, operator: "map-1", partition: "file", offset: 120, value: "?", record },
      { error: undefined, operator: "source-1", partition: "file", offset: 130, value: { base64: "Mf8=" }, record },
      { error: undefined, operator: "source-1", partition: "file", offset: 140, value: null, record },
    ],
  );
});

test("a dead letter has all of its record; a text is not taken for the base64 of bytes", () => {
  const refuse = () => {
    throw new Error("no");
  };
  const key = Uint8Array.of(0xff);
  const { rows } = run(lines(rejected).map(refuse).to(sink, { id: "out" }), [
    { value: "a", key, timestamp: 7, headers: { trace: "t", raw: key } },
    { value: '{"base64":"Mf8="}', key: "k", timestamp: 8 },
  ]);
  const [first, second] = rows["dead-letter"] as DeadLetterRow[];
  const raw = { base64: "/w==" };
  const headers = Object.entries({ trace: "t", raw });
  assert.deepEqual(first?.record, { source: "files", key: raw, headers, timestamp: 7 });
  assert.equal(second?.value, '{"base64":"Mf8="}');
  assert.deepEqual(second?.record, { source: "files", key: "k", headers: [], timestamp: 8 });
});

test("promises are refused everywhere", () => {
  const later = (async () => true) as () => never;
  const keyed = (apply: (value: string) => Key) =>
    lines().keyBy(apply).window(tumbling(10)).aggregate({ n: count() }).to(sink);
  const definitions: Definition[] = [
    lines()
      .map(later)
      .map((value) => value)
      .to(sink),
    lines().filter(later).to(sink),
    lines().flatMap(later).to(sink),
    keyed(later),
    lines("fail", later).to(sink),
  ];
  for (const definition of definitions) {
    assert.throws(
      () => run(definition, ["x"]),
      (error) => error instanceof UserCodeError && error.code === "asynchronous-function",
    );
  }
});

test("a wrong pipeline is not skipped", () => {
  const stream = lines("skip").map(() => {
    throw new UsageError("async-validator", "no");
  });
  assert.throws(() => run(stream.to(sink), ["x"]), UsageError);
});

test("metadata goes to functions that ask for it, and stays what it was", () => {
  const kept: RecordMetadata[] = [];
  const stream = lines()
    .map((value, metadata) => {
      kept.push(metadata);
      return value;
    })
    .map((...all: unknown[]) => all.length)
    .filter((value) => value === 2);
  const { rows } = run(stream.to(sink, { id: "out" }), [
    { value: "a", timestamp: 5, key: "k", headers: { trace: "t" } },
    { value: "b", timestamp: 6 },
  ]);
  assert.deepEqual(rows.out, [2, 2]);
  assert.deepEqual(kept, [
    { key: "k", headers: { trace: "t" }, timestamp: 5, partition: "file", offset: 100 },
    { key: undefined, headers: {}, timestamp: 6, partition: "file", offset: 110 },
  ]);
});

test("keys are decoded by the source's own decoder, for functions that ask for metadata only", () => {
  const keyed = (key: DecoderLike<unknown>) =>
    pipeline("test", { onError: "skip" }).from(kafka.source({ topic: "in", value: text(), key }));
  const records = [{ value: "a", key: "12" }, { value: "b" }, { value: "c", key: "no number" }];
  const number = (digits: string) => {
    if (!/^\d+$/.test(digits)) throw new Error("no number");
    return Number(digits);
  };
  const keys = run(
    keyed(number)
      .map((_, metadata) => [metadata.key])
      .to(sink, { id: "out" }),
    records,
  );
  assert.deepEqual(keys.rows.out, [[12], [undefined]]);
  assert.equal(keys.stage.counts.skipped, 1);
  const values = run(
    keyed(number)
      .map((value) => value)
      .to(sink, { id: "out" }),
    records,
  );
  assert.deepEqual(values.rows.out, ["a", "b", "c"]);
  const nulls = run(
    keyed(nullable(number))
      .map((_, { key }) => [key])
      .to(sink, { id: "out" }),
    records.slice(0, 2),
  );
  assert.deepEqual(nulls.rows.out, [[12], [null]]);
});

test("a null value follows onError, unless the decoder takes it", () => {
  const records = [{ value: "a" }, { value: null }];
  const strict = run(lines("skip").to(sink, { id: "out" }), records);
  assert.deepEqual(strict.rows.out, ["a"]);
  assert.equal(strict.stage.counts.skipped, 1);
  assert.throws(() => run(lines().to(sink), records), { code: "null-value", wayOut: /nullable/ });
  const timestamp = (value: string | null) => (value === null ? 9 : 5);
  const value = nullable(text());
  const definition = pipeline("test")
    .from(kafka.source({ topic: "in", value, timestamp }))
    .to(sink, { id: "out" });
  const { rows, times, stage } = run(definition, records);
  assert.deepEqual([rows.out, times.out, stage.counts.bytes], [["a", null], [5, 9], 1]);
});

test("event time comes from the value, or the source, or the plan", () => {
  const stampOf = (value: string) => Number(value);
  const times = (definition: Definition, records: (string | TestRecord)[]) => {
    const { stage } = run(definition, records);
    return stage.maxEventTimes.get("file");
  };
  assert.equal(times(lines("fail", stampOf).to(sink), ["5", "9.9", "7"]), 9);
  assert.equal(times(lines().to(sink), [{ value: "a", timestamp: 3 }]), 3);
  assert.equal(times(lines().to(sink), ["a"]), 77);
  assert.equal(times(lines("skip", stampOf).to(sink), ["x", "1e16"]), undefined);
  for (const time of [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    9e15,
    "5" as never,
    undefined as never,
    new Date(5) as never,
  ]) {
    assert.throws(
      () => run(lines("fail", () => time).to(sink), ["x"]),
      (error) => error instanceof UserCodeError && error.code === "invalid-timestamp",
    );
  }
});

test("a sink is told the event time of each row: of its record, or, for dead letters, of the plan", () => {
  const definition = lines(rejected, (value) => Number(value.slice(0, 1)))
    .flatMap((value) => value.split(" "))
    .keyBy((value) => value)
    .window(tumbling(5), { late: files.sink({ path: "late" }) })
    .aggregate({ n: count() })
    .to(sink, { id: "counts" });
  const { times, rows } = run(definition, ["9 a b", "x", "3 late"], 5);
  assert.equal(rows["dead-letter"]?.length, 1);
  assert.deepEqual(times["dead-letter"], [77]);
  assert.deepEqual(Object.values({ ...times, "dead-letter": [] }).flat(), [3, 3]);
  const plain = run(
    lines("fail", Number)
      .flatMap((value) => [value, value])
      .to(sink, { id: "out" }),
    ["4", "6"],
  );
  assert.deepEqual(plain.times.out, [4, 4, 6, 6]);
});

test("what is no key is an onError of keyBy", () => {
  const bad: unknown[] = [{}, null, undefined, Number.NaN, "\ud800", [[1]], ["a", {}]];
  const definition = lines(rejected)
    .keyBy((line) => bad[Number(line)] as string)
    .window(sliding({ size: 10, every: 5 }))
    .aggregate({ n: count() })
    .to(sink);
  const { rows, stage } = run(definition, Object.keys(bad));
  assert.equal(stage.counts.deadLettered, bad.length);
  assert.ok(rows["dead-letter"]?.every((row) => (row as { operator: string }).operator === "key-by-1"));
});

test("late rows come in the order of records, each once per window that it missed", () => {
  const definition = lines()
    .keyBy((value) => value)
    .window(sliding({ size: 20, every: 10 }), { allowedLateness: 5, late: files.sink({ path: "late" }), id: "w" })
    .aggregate({ n: count() })
    .to(sink);
  const records = [
    { value: "a", timestamp: 5 },
    { value: "b", timestamp: 6 },
    { value: "c", timestamp: 19 },
    { value: "d", timestamp: 20 },
  ];
  const late = (value: string, timestamp: number, windowStart: number) => ({
    key: value,
    value,
    timestamp,
    windowStart,
    windowEnd: windowStart + 20,
  });
  const { rows, stage } = run(definition, records, 25);
  const [rowsOfLate] = Object.values(rows);
  assert.deepEqual(rowsOfLate, [
    late("a", 5, -10),
    late("a", 5, 0),
    late("b", 6, -10),
    late("b", 6, 0),
    late("c", 19, 0),
  ]);
  assert.equal(stage.counts.late, 5);
});

test("says what runs, once per operator and batch", () => {
  const log: unknown[] = [];
  const topology = describe(
    lines()
      .map((value) => value)
      .keyBy((value) => value)
      .window(tumbling(1000))
      .aggregate({ count: count() })
      .to(sink),
  );
  const stage = new SourceStage({
    topology,
    watermark: null,
    processingTime: 0,
    write: () => {},
    running: (...what) => log.push(what),
  });
  stage.begin("file");
  stage.process(batchOf([{ value: "a" }, { value: "b" }], 40));
  assert.deepEqual(log, [
    ["source-1", "file", 40],
    ["map-1", "file", 40],
    ["key-by-1", "file", 40],
    ["window-1", "file", 40],
  ]);
});

test("a few large records are a batch of their own", () => {
  const offsets: number[] = [];
  const stage = new SourceStage({
    topology: describe(lines().to(sink)),
    watermark: null,
    processingTime: 0,
    write: () => {},
    running: (_operator, _partition, offset) => offsets.push(offset),
  });
  stage.process(batchOf(Array.from({ length: 4 }, () => ({ value: "x".repeat(200_000) }))));
  assert.deepEqual(offsets, [0, 20]);
});
