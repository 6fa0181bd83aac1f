import assert from "node:assert/strict";
import { test } from "node:test";
import {
  json,
  type KafkaSinkOptions,
  type KafkaSourceOptions,
  kafka,
  nullable,
  parameter,
  pipeline,
  seconds,
  text,
} from "../../index.ts";
import { bind } from "../bind.ts";
import { describe } from "../describe.ts";
import { explain } from "../explain.ts";
import { compareFingerprints, fingerprint } from "../fingerprint.ts";

const value = text();

test("a source is its topics, and where it starts", () => {
  const { options, kind, outOfOrderMs } = kafka.source({ topic: "in", value, outOfOrder: seconds(5) });
  assert.deepEqual([kind, outOfOrderMs], ["kafka", 5_000]);
  assert.deepEqual([options.topics, options.startFrom, options.isolation], [["in"], "earliest", "read_committed"]);
  const pattern = /logs-.*/;
  assert.equal(kafka.source({ pattern, value }).options.topics, pattern);
  const offsets = { "a/0": 5 };
  const some = kafka.source({
    topics: ["a", parameter("b")],
    value,
    startFrom: { offsets },
    isolation: "read_uncommitted",
  });
  const topology = describe(
    pipeline("demo")
      .from(some)
      .to(kafka.sink({ topic: parameter("out"), value })),
  );
  assert.deepEqual(topology.parameters.map(({ name }) => name).sort(), ["b", "brokers", "out"]);
  const { nodes, sinks } = bind(topology, { b: "B", brokers: "x:1", out: "O" });
  const [node] = nodes;
  assert.ok(node?.kind === "source");
  assert.deepEqual(node.source.options.topics, ["a", "B"]);
  assert.deepEqual(node.source.options.startFrom, { offsets });
  assert.deepEqual([sinks["sink-1"]!.options.topic, sinks["sink-1"]!.options.markerTopic], ["O", "O"]);
});

test("the event time is the record's own, or a function's", () => {
  const time = (line: string) => line.length;
  assert.equal(kafka.source({ topic: "t", value }).timestamp, undefined);
  assert.equal(kafka.source({ topic: "t", value, timestamp: "record" }).timestamp, undefined);
  assert.equal(kafka.source({ topic: "t", value, timestamp: time }).timestamp, time);
});

test("options of a source that are wrong are refused", () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ value }, /one of topic, topics and pattern/],
    [{ value, topic: "t", pattern: /x/ }, /one of topic, topics and pattern/],
    [{ value, topic: "" }, /topic/],
    [{ value, topics: [] }, /not empty/],
    [{ value, topics: ["a", ""] }, /topics/],
    [{ value, pattern: "x" }, /regular expression/],
    [{ topic: "t" }, /value of kafka\.source/],
    [{ value, topic: "t", topci: 1 }, /"topci". Did you mean "topic"/],
    [{ value, topic: "t", startFrom: "latst" }, /Did you mean "latest"/],
    [{ value, topic: "t", startFrom: { timestamp: -1 } }, /startFrom/],
    [{ value, topic: "t", startFrom: { timestamp: 1, offsets: {} } }, /startFrom/],
    [{ value, topic: "t", startFrom: { offsets: { "t/0": 1.5 } } }, /startFrom/],
    [{ value, topic: "t", startFrom: {} }, /startFrom/],
    [{ value, topic: "t", isolation: "committed" }, /isolation/],
    [{ value, topic: "t", timestamp: "value" }, /timestamp/],
    [{ value, topic: "t", key: 5 }, /key of kafka\.source/],
  ];
  for (const [options, message] of wrong) {
    const make = () => kafka.source(options as KafkaSourceOptions<string>);
    assert.throws(make, { kind: "usage", message }, String(message));
  }
});

test("options of a sink that are wrong are refused", () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ value }, /topic/],
    [{ topic: "t" }, /value of kafka\.sink/],
    [{ topic: "t", value: text }, /value of kafka\.sink/],
    [{ topic: "t", value: { decode() {} } }, /value of kafka\.sink/],
    [{ topic: () => "t", value }, /markerTopic/],
    [{ topic: "t", value, key: "k" }, /key of kafka\.sink/],
    [{ topic: "t", value, headers: {} }, /headers of kafka\.sink/],
    [{ topic: "t", value, compression: "zst" }, /Did you mean "zstd"/],
    [{ topic: "t", value, lanes: 0 }, /lanes/],
    [{ topic: "t", value, lanes: 1.5 }, /lanes/],
    [{ topic: "t", value, lanes: 1000 }, /lanes/],
    [{ topic: "t", value, epochHeader: "" }, /epochHeader/],
    [{ topic: "t", value, partitions: 1 }, /"partitions". Did you mean "partition"/],
  ];
  for (const [options, message] of wrong) {
    const make = () => kafka.sink(options as KafkaSinkOptions<string>);
    assert.throws(make, { kind: "usage", message }, String(message));
  }
});

const demo = (lanes?: number) =>
  describe(
    pipeline("demo")
      .from(kafka.source({ pattern: /in-\d+/, value: nullable(json()) }))
      .map(String)
      .to(
        kafka.sink({
          topic: parameter("output"),
          key: (row: string) => row,
          value: json(),
          compression: "zstd",
          ...(lanes === undefined ? {} : { lanes }),
        }),
        { id: "out" },
      ),
  );

test("explain shows sources and sinks", () => {
  const lines = explain(demo(2)).split("\n");
  const connection = 'connection: { brokers: [parameter("brokers")], clientId: "epochflow" }';
  const source = lines.find((line) => line.includes("source-1"))!;
  assert.ok(
    source.includes(
      `kafka source { ${connection}, topics: /in-\\d+/, startFrom: "earliest", isolation: "read_committed" }`,
    ),
    source,
  );
  assert.ok(source.includes("of nullable json, the source's own time"), source);
  const sink = lines.find((line) => line.startsWith("  out "))!;
  for (const part of [
    'topic: parameter("output")',
    "value: json",
    "key: a function",
    'compression: "zstd"',
    "lanes: 2",
    connection,
  ]) {
    assert.ok(sink.includes(part), sink);
  }
  assert.ok(!sink.includes("undefined"), sink);
});

test("the number of lanes is part of the fingerprint, and topics are not", () => {
  const [one, four] = [fingerprint(demo()), fingerprint(demo(4))];
  assert.deepEqual(compareFingerprints(one, fingerprint(demo(1))), []);
  assert.deepEqual(compareFingerprints(one, four), ["out: the number of lanes was 1, is 4"]);
  assert.deepEqual(compareFingerprints(four, one), ["out: the number of lanes was 4, is 1"]);
  assert.ok(!JSON.stringify(four).includes("output"));
});
