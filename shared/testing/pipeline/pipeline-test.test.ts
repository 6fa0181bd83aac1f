import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aggregate,
  count,
  customSink,
  customSource,
  type DeadLetterRow,
  deadLetter,
  files,
  kafka,
  type LateRow,
  milliseconds,
  nullable,
  parameter,
  pipeline,
  seconds,
  sum,
  text,
  tumbling,
} from "../../index.ts";
import { testPipeline } from "./pipeline-test.ts";

interface Order {
  readonly id: number;
  readonly amount: number;
}

const order = (line: string) => JSON.parse(line) as Order;

const counts = (outOfOrder = 0) =>
  pipeline("counts")
    .from(
      files.source({
        path: parameter("input"),
        value: text(),
        timestamp: (line) => Number(line.split(" ")[0]),
        outOfOrder,
      }),
    )
    .map((line) => line.split(" ")[1]!)
    .keyBy((word) => word)
    .window(tumbling(milliseconds(10)), { id: "words", late: files.sink({ path: parameter("late") }) })
    .aggregate({ count: count() })
    .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
    .to(files.sink({ path: parameter("output") }), { id: "counts" });

test("windows fire as the watermark passes them, by records or by word", async () => {
  const t = testPipeline(counts());
  t.send("1 a").send("5 b").send("9 a");
  await t.epoch();
  assert.deepEqual([t.rows(), t.watermark], [[], 9]);
  t.send("12 a");
  await t.epoch();
  const rows: { word: string; windowStart: number; count: number }[] = t.rows();
  assert.deepEqual(
    rows.sort((one, other) => one.word.localeCompare(other.word)),
    [
      { word: "a", windowStart: 0, count: 2 },
      { word: "b", windowStart: 0, count: 1 },
    ],
  );
  await t.advanceTo(20);
  assert.equal(t.rows("counts").length, 3);
  assert.deepEqual([t.watermark, t.counts], [20, { records: 4, late: 0, skipped: 0, deadLettered: 0 }]);
});

test("records that are too late are in the late sink, and counted", async () => {
  const t = testPipeline(counts(3));
  await t.advanceTo(10);
  t.send("9 a").send("14 a");
  await t.advanceTo(10);
  assert.deepEqual(t.rows<LateRow>("words-late"), [
    { key: "a", value: "a", timestamp: 9, windowStart: 0, windowEnd: 10 },
  ]);
  assert.deepEqual([t.counts.late, t.watermark], [1, 11]);
});

test("a silent partition holds the watermark back, until it is idle", async () => {
  const t = testPipeline(counts(), { partitions: 2 });
  t.send("15 a", { partition: 0 }).send("1 b", { partition: "partition-1" });
  await t.epoch();
  assert.equal(t.watermark, 1);
  await t.advanceProcessingTime(59_999);
  assert.deepEqual([t.watermark, t.rows().length], [1, 0]);
  await t.advanceProcessingTime(1);
  assert.deepEqual([t.watermark, t.rows()], [15, [{ word: "b", windowStart: 0, count: 1 }]]);
  assert.throws(() => t.send("1 b", { partition: 2 }), {
    code: "no-such-partition",
    message: /partition-0, partition-1/,
  });
});

test("state goes over epochs and restarts, and shows what does not survive a snapshot", async () => {
  class Tally {
    total = 0;
  }
  const tallied = pipeline("tallied")
    .from(files.source({ path: "in", value: text(), timestamp: Number }))
    .keyBy(() => "all")
    .window(tumbling(10))
    .aggregate({
      tally: aggregate<string, Tally, number>({
        init: () => new Tally(),
        add: (tally) => Object.assign(tally, { total: tally.total + 1 }),
        merge: (one, other) => Object.assign(one, { total: one.total + other.total }),
        result: ({ total }) => total,
      }),
    })
    .to(files.sink({ path: "out" }));
  await assert.rejects(testPipeline(tallied).send("1").epoch(), /Tally/);

  const t = testPipeline(counts());
  for (const line of ["1 a", "2 a", "3 a"]) {
    await t.send(line).epoch();
    await t.restart();
  }
  await t.advanceTo(10);
  assert.deepEqual(t.rows(), [{ word: "a", windowStart: 0, count: 3 }]);
});

test("a restart with another pipeline goes on with its state, if that fits", async () => {
  const of = (size: number, factor: number) =>
    pipeline("sums")
      .from(kafka.source({ topic: "numbers", value: (digits) => Number(digits) }))
      .keyBy(() => "all")
      .window(tumbling(size))
      .aggregate({ sum: sum((number) => number) })
      .map((row) => row.sum * factor)
      .to(files.sink({ path: "out" }), { id: "sums" });
  const t = testPipeline(of(10, 1));
  await t.send(1).send(2).epoch();
  await t.restart(of(10, 100));
  await t.send(3).advanceTo(10);
  assert.deepEqual(t.rows<number>("sums"), [600]);
  await assert.rejects(t.restart(of(20, 1)), {
    code: "topology-changed",
    message: /the size was 10 milliseconds, is 20 milliseconds/,
  });
});

test("what the user's code throws is told as in a run, with operator and offset, and stops the pipeline", async () => {
  const strict = pipeline("strict")
    .from(files.source({ path: "in", value: text() }))
    .map(
      (line) => {
        if (line === "bad") throw new Error("it is bad");
        return line;
      },
      { id: "check" },
    )
    .to(files.sink({ path: "out" }), { id: "lines" });
  const t = testPipeline(strict);
  await t.send("good").epoch();
  const wrong = {
    code: "function-failed",
    place: { pipeline: "strict", operator: "check", partition: "partition-0", offset: 9, line: 3 },
  };
  await assert.rejects(t.send("too").send("bad").epoch(), (error: Error & { place: object }) => {
    assert.match(error.message, /"check".*offset 9.*it is bad/);
    assert.deepEqual(error.place, wrong.place);
    return true;
  });
  assert.deepEqual(t.rows(), ["good"]);
  await assert.rejects(t.epoch(), { code: "function-failed" });
  await t.send("more").restart(strict);
  await assert.rejects(t.epoch(), { code: "function-failed" });
  await t.restart(
    pipeline("strict")
      .from(files.source({ path: "in", value: text() }))
      .to(files.sink({ path: "out" }), { id: "lines" }),
  );
  await t.epoch();
  assert.deepEqual([t.rows(), t.counts.records], [["good", "too", "bad", "more"], 4]);
});

test("dead letters are rows of their sink", async () => {
  const t = testPipeline(
    pipeline("lenient", { onError: deadLetter(files.sink({ path: "rejected" })) })
      .from(kafka.source({ topic: parameter("orders"), value: order }))
      .map(({ id }) => ({ id, big: BigInt(id) }))
      .to(files.sink({ path: "out" }), { id: "ids" }),
    { parameters: { orders: "shop" } },
  );
  t.send({ id: 1, amount: 5 }).send("no json").send(Uint8Array.of(0xff)).send(null);
  await t.epoch();
  assert.deepEqual(t.rows("ids"), [{ id: 1, big: "1" }]);
  const letters = t
    .rows<DeadLetterRow>("dead-letter")
    .map(({ operator, partition, offset, value }) => [operator, partition, offset, value]);
  assert.deepEqual(letters, [
    ["source-1", "shop/0", 1, "no json"],
    ["source-1", "shop/0", 2, { base64: "/w==" }],
    ["source-1", "shop/0", 3, null],
  ]);
  assert.deepEqual(t.counts, { records: 4, late: 0, skipped: 0, deadLettered: 3 });
});

test("records of Kafka have keys, headers, times and tombstones, on the way in and on the way out", async () => {
  const t = testPipeline(
    pipeline("copy")
      .from(kafka.source({ topic: "in", value: nullable(order), key: Number }))
      .map((order, { key, headers, timestamp, partition, offset }) => ({
        order,
        key,
        headers,
        timestamp,
        at: `${partition}@${offset}`,
      }))
      .to(
        kafka.sink({
          topic: (row) => `out-${row.key}`,
          markerTopic: "out",
          key: ({ key }) => String(key),
          value: ({ order, at }) => order && JSON.stringify({ ...order, at }),
          headers: ({ headers }) => headers,
          epochHeader: "epoch",
        }),
        { id: "copy" },
      ),
    { partitions: 2, startTime: 1000 },
  );
  t.send({ id: 7, amount: 1 }, { key: "5", headers: { trace: "x" }, timestamp: 900, partition: 1 });
  t.send(null, { key: "6" });
  await t.epoch();
  const records = t.records("copy").map(({ topic, key, value, headers, timestamp }) => ({
    ...{ topic, key: key?.toString(), value: value?.toString(), timestamp },
    headers: Object.fromEntries(Object.entries(headers).map(([name, bytes]) => [name, bytes.toString()])),
  }));
  assert.deepEqual(records, [
    { topic: "out-6", key: "6", value: undefined, timestamp: 1000, headers: { epoch: "copy/1" } },
    {
      topic: "out-5",
      key: "5",
      value: '{"id":7,"amount":1,"at":"in/1@0"}',
      timestamp: 900,
      headers: { trace: "x", epoch: "copy/1" },
    },
  ]);
  assert.equal(t.rows()[1]?.order?.id, 7);
});

test("a row that the sink cannot encode fails as in a run", async () => {
  const t = testPipeline(
    pipeline("half")
      .from(files.source({ path: "in", value: text() }))
      .to(kafka.sink({ topic: "out", value: text(), key: (line) => line.slice(0, 1) }), { id: "out" }),
  );
  await assert.rejects(t.send("😀").epoch(), { code: "kafka-row-key" });
});

test("sources and sinks of one's own are not opened", async () => {
  const create = () => assert.fail("created");
  const t = testPipeline(
    pipeline("own")
      .from(customSource({ name: "queue", options: {}, create, value: (digits) => Number(digits) }))
      .to(customSink({ name: "table", options: {}, create }), { id: "rows" }),
  );
  await t.send(5).epoch();
  assert.deepEqual(t.rows(), [5]);
});

test("misuse is told", async () => {
  const t = testPipeline(counts(seconds(1)));
  t.send("1 a");
  assert.throws(() => t.rows(), { code: "not-processed" });
  await t.epoch();
  assert.throws(() => t.rows("count"), { code: "no-such-sink", message: /Did you mean "counts"/ });
  assert.throws(() => t.records("counts"), { code: "no-records" });
  assert.throws(() => t.send("a\nb"), { code: "no-such-record" });
  assert.throws(() => t.send("a", { key: "k" }), { code: "no-such-record" });
  assert.throws(() => t.send("a", { partitions: 1 } as never), { code: "unknown-option" });
  assert.throws(() => testPipeline(counts(), { partition: 2 } as never), { code: "unknown-option" });
  assert.throws(() => t.send((() => 1) as never), { code: "no-such-record" });
  for (const wrong of [{ partitions: 0 }, { partitions: 1.5 }, { startTime: Number.NaN }])
    assert.throws(() => testPipeline(counts(), wrong), { code: "invalid-argument" });
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, "5"])
    await assert.rejects(t.advanceTo(time as number), { code: "invalid-argument" });
  await assert.rejects(t.advanceProcessingTime(-1), { code: "invalid-argument" });
});

test("an epoch that nobody awaits is an error, not an empty list", async () => {
  const t = testPipeline(counts());
  t.send("1 a").send("12 a");
  const first = t.epoch();
  assert.throws(() => t.rows(), { code: "epoch-under-way" });
  await assert.rejects(t.advanceTo(30), { code: "epoch-under-way" });
  await first;
  assert.equal(t.rows().length, 1);
});
