import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { FakeKafka } from "../../../../test/support/kafka/fake-kafka.ts";
import { readBatches } from "../../../../test/support/kafka/plain-batch.ts";
import { hastyClock, type Row, settingsOf } from "../../../../test/support/kafka/sink-settings.ts";
import { InfrastructureError, UsageError, type UserCodeError } from "../../../errors.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { sinkConformance } from "../../../testing/sink-conformance.ts";
import { commitLedger, owner } from "../../../testing/sink-scenario.ts";
import { MemoryObjectStore } from "../../memory/object-store.ts";
import { SeededRandom } from "../../memory/random.ts";
import { systemClock } from "../../system/clock.ts";
import { murmur2, placeOf } from "./partitioner.ts";
import { createKafkaSink } from "./sink.ts";

const context = { ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "nonce1" };

for (const lanes of [1, 3])
  sinkConformance(`kafka in memory, ${lanes} lanes`, async () => {
    const kafka = new FakeKafka();
    kafka.createTopic("out", 5);
    const objects = new MemoryObjectStore();
    const random = new SeededRandom(1);
    return {
      open: () => createKafkaSink(settingsOf({ lanes }), kafka.client(), objects, { clock: systemClock, random }),
      read: async () =>
        kafka
          .read("out")
          .flat()
          .map(({ value }) => JSON.parse(value!.toString())),
      row: (n): Row => ({ n, key: `key ${n % 7}` }),
      badRow: { n: 1, toJSON: () => undefined } as unknown as Row,
      close: async () => {},
    };
  });

/** A sink on a cluster of its own, and what becomes of rows that are written to it in one epoch. */
function given<T = Row>(
  settings: Partial<KafkaSinkSettings<T>> = {},
  prepare = (kafka: FakeKafka) => kafka.createTopic("out"),
) {
  const kafka = new FakeKafka();
  prepare(kafka);
  const objects = new MemoryObjectStore();
  const clock = hastyClock();
  const sink = createKafkaSink(settingsOf<T>(settings), kafka.client(), objects, {
    clock,
    random: new SeededRandom(1),
  });
  const publish = async (
    rows: T[],
    timeOf?: (index: number) => number,
    begun: Partial<typeof context> & { processingTime?: number } = {},
  ) => {
    await sink.open(owner);
    const transaction = await sink.begin({ ...context, ...begun });
    const refused: UserCodeError[] = [];
    transaction.write(rows, (_, error) => refused.push(error), timeOf);
    const handle = await sink.preCommit(transaction);
    if (handle === undefined) return { refused };
    const units = sink.units!([{ stage: 0, task: 0, handle }], { epoch: 1, token: "t", previous: () => null });
    for (const unit of units)
      await sink.commit({
        ...owner,
        epoch: 1,
        ...unit,
        ledger: { ...commitLedger(1, unit), decidedAt: async () => clock.now() },
      });
    return { refused, handle, units };
  };
  const values = (topic = "out") => kafka.read(topic).map((records) => records.map(({ value }) => value?.toString()));
  return { kafka, objects, clock, sink, publish, values };
}

suite("rows become records", () => {
  test("with the partition that Java gives a key, in order", async () => {
    const { publish, kafka } = given({ topic: "out" });
    const rows = Array.from({ length: 200 }, (_, n) => ({ n, key: `k${n % 20}` }));
    await publish(rows);
    for (const [partition, records] of kafka.read("out").entries())
      assert.deepEqual(
        records.map(({ value }) => JSON.parse(value!.toString())),
        rows.filter(({ key }) => placeOf(murmur2(Buffer.from(key)), 3) === partition),
      );
  });

  test("with key, headers and time as the functions say", async () => {
    const { publish, kafka } = given<Row>(
      {
        key: ({ n }) => (n % 2 ? Buffer.from([0, n]) : "ключ"),
        headers: ({ n }) => ({ n: String(n), bytes: Uint8Array.of(n) }),
        timestamp: ({ n }) => n + 0.5,
        epochHeader: "from",
      },
      (made) => made.createTopic("out", 1),
    );
    await publish([{ n: 1 }, { n: 2 }]);
    const shown = kafka
      .read("out")
      .flat()
      .map(({ key, headers, timestamp }) => ({
        key,
        timestamp,
        headers: headers.map(([name, value]) => [name, value.toString()]),
      }));
    assert.deepEqual(shown, [
      {
        key: Buffer.from([0, 1]),
        timestamp: 1,
        headers: [
          ["n", "1"],
          ["bytes", "\u0001"],
          ["from", "conformance/1"],
        ],
      },
      {
        key: Buffer.from("ключ"),
        timestamp: 2,
        headers: [
          ["n", "2"],
          ["bytes", "\u0002"],
          ["from", "conformance/1"],
        ],
      },
    ]);
  });

  test("with headers in an order, where a name comes twice and a value is null", async () => {
    const headers = [["a", "1"], ["b", null], ["a", Buffer.of(2)]] as const; // biome-ignore format: pairs
    const { publish, kafka } = given<Row>({ headers: () => headers }, (made) => made.createTopic("out", 1));
    await publish([{ n: 1 }]);
    const [record] = kafka.read("out").flat();
    const shown = record!.headers.map(([name, value]) => [name, value === null ? null : value.toString()]);
    assert.deepEqual(shown, [["a", "1"], ["b", null], ["a", "\u0002"]]); // biome-ignore format: pairs
  });

  test("with keys of any length", async () => {
    const keys = ["short", "k".repeat(200), "ключ".repeat(1000), "short again"];
    for (const bytes of [false, true]) {
      const key = ({ n }: Row) => (bytes ? Buffer.from(keys[n]!) : keys[n]!);
      const { publish, kafka } = given<Row>({ key }, (made) => made.createTopic("out", 1));
      await publish(keys.map((_, n) => ({ n })));
      assert.deepEqual(
        kafka
          .read("out")
          .flat()
          .map((record) => record.key!.toString()),
        keys,
      );
    }
  });

  test("with their event time where no function says another", async () => {
    const { publish, kafka } = given({}, (made) => made.createTopic("out", 1));
    await publish([{ n: 0 }, { n: 1 }], (index) => 1000 + index);
    assert.deepEqual(
      kafka
        .read("out")
        .flat()
        .map(({ timestamp }) => timestamp),
      [1000, 1001],
    );
  });

  test("as tombstones where the value is null", async () => {
    const { publish, kafka } = given<Row>({ value: { name: "null", encode: () => null } });
    await publish([{ n: 0, key: "a" }]);
    const [record] = kafka.read("out").flat();
    assert.deepEqual([record!.key!.toString(), record!.value], ["a", null]);
  });

  test("of the topic that a function names, in transactions of one marker topic", async () => {
    const prepare = (made: FakeKafka) => {
      for (const topic of ["even", "odd", "marker"]) made.createTopic(topic, 1);
    };
    const { publish, values, kafka } = given<Row>(
      { topic: ({ n }) => (n % 2 ? "odd" : "even"), markerTopic: "marker" },
      prepare,
    );
    await publish([{ n: 0 }, { n: 1 }, { n: 2 }]);
    assert.deepEqual(values("odd"), [['{"n":1}']]);
    assert.deepEqual(values("even"), [['{"n":0}', '{"n":2}']]);
    await turn();
    assert.equal(kafka.offset("epochflow.conformance.ledger-1.rows.0", "marker")?.offset, 1);
  });

  test("whose partition a function may choose", async () => {
    const { publish, values } = given<Row>({ partition: ({ n }, partitions) => n % partitions });
    await publish([{ n: 0 }, { n: 1 }, { n: 4 }]);
    assert.deepEqual(values(), [['{"n":0}'], ['{"n":1}', '{"n":4}'], []]);
  });

  test("whose partition, without a key, depends on value and time alone, and differs", async () => {
    const rows = Array.from({ length: 100 }, () => ({ n: 5 }));
    const once = given({});
    await once.publish(rows, (index) => index);
    assert.ok(once.values().every((partition) => partition.length > 10));
    const other = given({});
    await other.publish(rows.slice(50), (index) => 50 + index, { task: 7, attempt: 3, nonce: "other" });
    for (const [partition, records] of once.kafka.read("out").entries())
      assert.deepEqual(
        other.kafka.read("out")[partition]!.map(({ timestamp }) => timestamp),
        records.map(({ timestamp }) => timestamp).filter((time) => time >= 50),
      );
  });
});

suite("rows that cannot become records are refused, and the others written", () => {
  const refusals: [string, Partial<KafkaSinkSettings<Row>>, string, RegExp][] = [
    [
      "a key function that throws",
      {
        key: ({ n }) => {
          if (n === 1) throw new Error("boom");
          return null;
        },
      },
      "kafka-row-key",
      /sink rows: a row's key cannot be made: boom/,
    ],
    [
      "a key of the wrong type",
      { key: ({ n }) => (n === 1 ? (5 as never) : null) },
      "kafka-row-key",
      /of type number, but must be a text, bytes or null/,
    ],
    [
      "a key that is a promise",
      { key: (({ n }: Row) => (n === 1 ? Promise.reject(new Error("late")) : null)) as never },
      "kafka-row-key",
      /a promise/,
    ],
    ["half a surrogate pair", { key: ({ n }) => (n === 1 ? "\ud800" : null) }, "kafka-row-key", /surrogate/],
    [
      "a value that throws",
      {
        value: {
          name: "x",
          encode: ({ n }) => {
            if (n === 1) throw new TypeError("no");
            return "v";
          },
        },
      },
      "kafka-row-value",
      /cannot be made: no/,
    ],
    [
      "a value of the wrong type",
      { value: { name: "x", encode: ({ n }) => (n === 1 ? (undefined as never) : "v") } },
      "kafka-row-value",
      /of type undefined/,
    ],
    [
      "headers of the wrong type",
      { headers: ({ n }) => (n === 1 ? { a: 5 as never } : {}) },
      "kafka-row-headers",
      /object of texts and bytes/,
    ],
    ["no headers", { headers: ({ n }) => (n === 1 ? (null as never) : {}) }, "kafka-row-headers", /is null/],
    [
      "a partition that is not there",
      { partition: ({ n }) => (n === 1 ? 3 : 0) },
      "kafka-row-partition",
      /gave 3, but the topic has 3/,
    ],
    [
      "a partition that is no number",
      { partition: ({ n }) => (n === 1 ? ("1" as never) : 0) },
      "kafka-row-partition",
      /of type string/,
    ],
    [
      "a partition that is no whole number",
      { partition: ({ n }) => (n === 1 ? 0.5 : 0) },
      "kafka-row-partition",
      /gave 0.5/,
    ],
    ["a topic that is not there", { topic: ({ n }) => (n === 1 ? "nowhere" : "out") }, "kafka-row-topic", /"nowhere"/],
    [
      "a topic that is no text",
      { topic: ({ n }) => (n === 1 ? (null as never) : "out") },
      "kafka-row-topic",
      /is null/,
    ],
    ["a time before 1970", { timestamp: ({ n }) => (n === 1 ? -1 : 0) }, "kafka-row-timestamp", /of the time -1/],
    ["a time that is none", { timestamp: ({ n }) => (n === 1 ? Number.NaN : 0) }, "kafka-row-timestamp", /NaN/],
    [
      "a record that is too large",
      { value: { name: "x", encode: ({ n }) => (n === 1 ? "v".repeat(5000) : "v") } },
      "kafka-record-too-large",
      /5\d\d\d bytes is too large for out, which takes 2000/,
    ],
  ];
  for (const [title, settings, code, message] of refusals)
    test(title, async () => {
      const { publish, values } = given<Row>(settings, (kafka) =>
        kafka.createTopic("out", 3, { "max.message.bytes": "2000" }),
      );
      const { refused } = await publish([{ n: 0 }, { n: 1 }, { n: 2 }]);
      assert.deepEqual(
        refused.map((error) => error.code),
        [code],
      );
      assert.match(refused[0]!.message, message);
      assert.equal(refused[0]!.place.sink, "rows");
      assert.ok(refused[0]!.wayOut);
      assert.equal(values().flat().length, 2);
    });

  test("a row without a key, for a compacted topic", async () => {
    const { publish, values } = given({}, (kafka) =>
      kafka.createTopic("out", 3, { "cleanup.policy": "compact,delete" }),
    );
    const { refused } = await publish([{ n: 0, key: "a" }, { n: 1 }]);
    assert.deepEqual(
      refused.map(({ code }) => code),
      ["kafka-row-key"],
    );
    assert.deepEqual(values().flat(), ['{"n":0,"key":"a"}']);
  });

  test("a time that is further ahead than the topic allows, by the plan's clock", async () => {
    const limits = { "message.timestamp.after.max.ms": "3600000" };
    const times = [1000, 3_601_000, 3_601_001];
    const strict = given({}, (kafka) => kafka.createTopic("out", 3, limits));
    const { refused } = await strict.publish([{ n: 0 }, { n: 1 }, { n: 2 }], (index) => times[index]!, {
      processingTime: 1000,
    });
    assert.deepEqual(
      refused.map(({ code }) => code),
      ["kafka-row-timestamp"],
    );
    const lenient = given({}, (kafka) =>
      kafka.createTopic("out", 3, { ...limits, "message.timestamp.type": "LogAppendTime" }),
    );
    assert.deepEqual((await lenient.publish([{ n: 2 }], () => times[2]!, { processingTime: 1000 })).refused, []);
  });

  test("without somebody to take them they end the transaction", async () => {
    const { sink } = given({ partition: () => 99 });
    const transaction = await sink.begin(context);
    assert.throws(() => transaction.write([{ n: 1 }]), { code: "kafka-row-partition" });
  });
});

suite("what is staged", () => {
  test("is the same bytes for the same rows, and says nothing of who wrote it or when", async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ n, key: `k${n % 50}` }));
    const staged = [];
    for (const begun of [{}, { attempt: 2, nonce: "other" }]) {
      const one = given({ compression: "zstd" });
      await one.publish(rows, undefined, begun);
      staged.push([...one.objects.objects.values()]);
      assert.equal(one.objects.objects.size, 1);
    }
    assert.deepEqual(staged[0], staged[1]);
  });

  test("is cut into batches that the topic takes", async () => {
    const { publish, objects, values } = given<Row>({}, (kafka) =>
      kafka.createTopic("out", 1, { "max.message.bytes": "1000" }),
    );
    const rows = Array.from({ length: 300 }, (_, n) => ({ n, key: "k" }));
    await publish(rows);
    const [bytes] = objects.objects.values();
    const sizes = readBatches(Buffer.from(bytes!)).map((batch) => batch.bytes.length);
    assert.ok(sizes.every((size) => size <= 1000) && sizes.slice(0, -1).every((size) => size > 950), String(sizes));
    assert.deepEqual(
      values()[0],
      rows.map((row) => JSON.stringify(row)),
    );
  });

  test("holds large records alone, between small ones, in order", async () => {
    const sizes = [10, 300_000, 10, 10, 500_000, 600_000, 10];
    const { publish, kafka } = given<Row>(
      { value: { name: "x", encode: ({ n }) => "ü".repeat(sizes[n]! / 2) } },
      (made) => made.createTopic("out", 1),
    );
    await publish(sizes.map((_, n) => ({ n })));
    assert.deepEqual(
      kafka
        .read("out")
        .flat()
        .map(({ value }) => value!.length),
      sizes,
    );
  });

  test("is nothing where there are no rows", async () => {
    const { publish, objects } = given();
    assert.equal((await publish([])).handle, undefined);
    assert.equal(objects.objects.size, 0);
  });

  test("lies under names of its own for each sink of a task", async () => {
    const { sink, objects } = given();
    for (const name of ["one", "other"]) {
      const transaction = await sink.begin({ ...context, sink: name });
      transaction.write([{ n: 1 }]);
      await sink.preCommit(transaction);
    }
    assert.deepEqual(
      [...objects.objects.keys()].sort(),
      ["one", "other"].map((name) => `conformance/ledger-1/000000000001-1-0-0-nonce1.${name}.staged`),
    );
  });
});

suite("what a sink needs is looked for before anything is staged", () => {
  const refused = async (
    code: string,
    kind: abstract new (...given: never[]) => Error,
    made: ReturnType<typeof given<Row>>,
  ) => {
    await assert.rejects(made.sink.open(owner), (error) => {
      assert.ok(error instanceof kind);
      assert.equal((error as InfrastructureError).code, code);
      assert.ok((error as InfrastructureError).wayOut);
      return true;
    });
  };
  test("its topic, which may come later", async () => {
    const made = given({}, () => {});
    await refused("kafka-topic-missing", InfrastructureError, made);
    await assert.rejects(made.sink.begin(context), { code: "kafka-topic-missing" });
    made.kafka.createTopic("out");
    await made.sink.open(owner);
  });
  test("the topic of its marker", async () => {
    await refused("kafka-topic-missing", InfrastructureError, given({ markerTopic: "marker" }));
    await refused("kafka-topic-missing", InfrastructureError, given({ topic: () => "out", markerTopic: "marker" }));
  });
  test("brokers that check transactions", async () => {
    await refused(
      "kafka-brokers-too-old",
      UsageError,
      given({}, (kafka) => {
        kafka.createTopic("out");
        kafka.verifies = false;
      }),
    );
  });
  test("brokers that allow the transaction's time-out", async () => {
    await refused(
      "kafka-transaction-timeout",
      UsageError,
      given({}, (kafka) => {
        kafka.createTopic("out");
        kafka.brokers["transaction.max.timeout.ms"] = "59999";
      }),
    );
  });
  test("brokers that keep the marker for long enough", async () => {
    const retention = (minutes: string) => (kafka: FakeKafka) => {
      kafka.createTopic("out");
      kafka.brokers["offsets.retention.minutes"] = minutes;
    };
    await refused("kafka-offset-retention", UsageError, given({}, retention("6")));
    await given({}, retention("7")).sink.open(owner);
  });
  test("and is not asked for again at once, but after a while", async () => {
    const { sink, kafka, clock } = given();
    await sink.open(owner);
    kafka.deleteTopic("out");
    kafka.verifies = false;
    await sink.open(owner);
    clock.pass(60_000);
    await assert.rejects(sink.open(owner), { code: "kafka-topic-missing" });
    kafka.createTopic("out");
    clock.pass(300_000);
    await assert.rejects(sink.open(owner), { code: "kafka-brokers-too-old" });
  });
  test("lanes", () => {
    for (const lanes of [0, 1.5, "2" as never]) assert.throws(() => given({ lanes }), UsageError);
  });
});

test("a handle that the sink did not make is refused", async () => {
  const { publish, sink } = given();
  const { units } = await publish([{ n: 1 }]);
  const [{ key, unit }] = units as [NonNullable<typeof units>[number]];
  const [range] = unit.staged;
  const withRange = (other: object) => ({ ...unit, staged: [{ ...range, ...other }] });
  const commit = (changed: unknown, place: object = {}) =>
    sink.commit({ ...owner, epoch: 1, key, unit: changed as never, ledger: commitLedger(1, { unit: null }), ...place });
  const wrong = [
    null,
    { ...unit, token: 5 },
    { ...unit, previous: 1 },
    { ...unit, staged: {} },
    withRange({ object: "../secret" }),
    withRange({ object: range!.object.replace("ledger-1", "ledger-2") }),
    withRange({ object: range!.object.replace("staged", "snapshot") }),
    withRange({ start: -1 }),
    withRange({ bytes: 0 }),
    withRange({ topics: [["..", []]] }),
    withRange({ topics: [null] }),
    withRange({ topics: [["out"]] }),
    withRange({ topics: [["out", [5]]] }),
    withRange({ topics: [["out", [[0, 1, 1]]]] }),
  ];
  for (const changed of wrong) await assert.rejects(commit(changed), { code: "handle-invalid" });
  await assert.rejects(commit(unit, { epoch: 2 }), { code: "handle-invalid" });
  await assert.rejects(commit(unit, { key: "lane-x" }), { code: "handle-invalid" });
  await assert.rejects(commit(withRange({ topics: [["other", []]] })), { code: "kafka-other-topic" });
});
