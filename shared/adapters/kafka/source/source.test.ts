import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { FakeTopics, refusal } from "../../../../test/support/kafka/fake-topics.ts";
import { EpochflowError, InfrastructureError, LossError, UsageError } from "../../../errors.ts";
import type { KafkaSourceSettings } from "../../../pipeline/connectors/kafka.ts";
import type { KnownPartition, PartitionStatus, SourceRange } from "../../../ports/source.ts";
import { type SourceUnderTest, sourceConformance } from "../../../testing/source-conformance.ts";
import { readValues, wholeRange } from "../../../testing/source-scenario.ts";
import { createKafkaSource, type KafkaSourceSurroundings } from "./source.ts";

class Fixture {
  now = 0;
  readonly topics = new FakeTopics();

  open(settings: Partial<KafkaSourceSettings> = {}, surroundings: Partial<KafkaSourceSurroundings> = {}) {
    return createKafkaSource(
      { topics: ["t"], startFrom: "earliest", isolation: "read_committed", ...settings },
      this.topics.client(),
      { bounded: false, clock: { now: () => this.now, sleep: async () => {} }, timeoutMs: 100, ...surroundings },
    );
  }
}

const known = ({ id, identity }: PartitionStatus, position: number): KnownPartition => ({ id, identity, position });

const rejects = async (promise: Promise<unknown>, kind: typeof EpochflowError, code: string, message: RegExp) => {
  const error = await promise.then(
    () => assert.fail(`no ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof kind && error instanceof EpochflowError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  assert.ok(error.wayOut !== undefined, "it names the way out");
};

type Kind = typeof EpochflowError;
const loss = LossError as unknown as Kind;
const infrastructure = InfrastructureError as unknown as Kind;
const usage = UsageError as unknown as Kind;

interface Topics extends SourceUnderTest {
  readonly topics: FakeTopics;
  log(partition: string): ReturnType<FakeTopics["create"]>[number];
}

sourceConformance<Topics>(
  "Kafka, in memory",
  async () => {
    const fixture = new Fixture();
    const logs = new Map<string, ReturnType<FakeTopics["create"]>[number]>();
    return {
      topics: fixture.topics,
      open: () => fixture.open({ topics: /input-.*/ }),
      log: (partition) => logs.get(partition)!,
      async append(partition, values) {
        const log = logs.get(partition) ?? fixture.topics.create(`input-${partition}`)[0]!;
        logs.set(partition, log);
        for (let at = 0; at < values.length; at += 100) log.append(...values.slice(at, at + 100));
      },
      close: async () => {},
    };
  },
  {
    "a replica without all records is elected": async (input, partition) => {
      input.log(partition).truncate(10);
      input.log(partition).append(...Array.from({ length: 200 }, (_, n) => `other ${n}`));
    },
    "the topic has no partition of the number any more": async (input, partition) => {
      input.topics.delete(`input-${partition}`);
    },
  },
);

suite("which partitions", () => {
  test("those of names, and of a whole name that matches, but for internal ones", async () => {
    const fixture = new Fixture();
    for (const topic of ["a", "ab", "b", "__offsets"]) fixture.topics.create(topic, 2);
    const ids = async (topics: readonly string[] | RegExp) =>
      (await fixture.open({ topics }).discover([])).map(({ id }) => id);
    assert.deepEqual(await ids(["b", "a", "a"]), ["a/0", "a/1", "b/0", "b/1"]);
    assert.deepEqual(await ids(/a|b/), ["a/0", "a/1", "b/0", "b/1"]);
    assert.deepEqual(await ids(/A.*/gi), ["a/0", "a/1", "ab/0", "ab/1"]);
    assert.deepEqual((await ids(/.*/)).includes("__offsets/0"), false);
  });

  test("a topic that is not there is waited for, one that was there is a loss", async () => {
    const fixture = new Fixture();
    await rejects(fixture.open().discover([]), infrastructure, "kafka-topic-missing", /topic t does not exist/);
    await rejects(
      fixture.open({ topics: /x+/ }).discover([]),
      infrastructure,
      "kafka-topic-missing",
      /matches \/x\+\//,
    );
    fixture.topics.create("t", 2);
    const [first, second] = await fixture.open().discover([]);
    fixture.topics.create("u");
    for (const topics of [["u"], /u/])
      await rejects(fixture.open({ topics }).discover([known(first!, 0)]), loss, "kafka-topic-unnamed", /topic t,/);
    assert.throws(() => fixture.open({ topics: ["a b"] }), { kind: "usage", code: "kafka-topic-name" });
    fixture.topics.create("t", 1);
    await rejects(fixture.open().discover([known(first!, 0)]), loss, "kafka-topic-replaced", /t\/0 .*made anew/);
    fixture.topics.delete("t");
    for (const topics of [["t"], /t/])
      await rejects(
        fixture.open({ topics }).discover([known(second!, 3)]),
        loss,
        "kafka-topic-gone",
        /t\/1 .*offset 3/,
      );
  });

  test("under a pattern, a known topic that we may not see any more is no loss", async () => {
    const fixture = new Fixture();
    fixture.topics.create("t");
    const [status] = await fixture.open({ topics: /t/ }).discover([]);
    fixture.topics.delete("t");
    let asked = 0;
    fixture.topics.before = (method) => {
      if (method === "topics" && ++asked === 2) throw refusal("TOPIC_AUTHORIZATION_FAILED");
    };
    const again = fixture.open({ topics: /t/ }).discover([known(status!, 0)]);
    await assert.rejects(again, { code: "kafka-topic-authorization-failed" });
  });

  test("an id or identity that the source did not make is refused", async () => {
    const fixture = new Fixture();
    fixture.topics.create("t");
    const [status] = await fixture.open().discover([]);
    for (const one of [
      { ...status!, id: "t" },
      { ...status!, id: "t/x" },
      { ...status!, identity: null },
      { ...status!, identity: { topicId: 1, leaderEpoch: 0 } },
    ])
      await rejects(fixture.open().discover([known(one, 0)]), loss, "kafka-partition-unknown", /t/);
  });

  test("starts that the log does not have are refused; later partitions begin at their log's start", async () => {
    const fixture = new Fixture();
    const [log] = fixture.topics.create("t");
    log!.start = 3;
    log!.append("a", "b");
    const offsets = { 0: 7 };
    await rejects(fixture.open({ startFrom: { offsets } }).discover([]), usage, "kafka-start-offset", /3 to 5/);
    const [status] = await fixture.open({ startFrom: { offsets: { "t/0": 5 } } }).discover([]);
    assert.equal(status!.start, 5);
    log!.lastStable = 3;
    const starts = async (timestamp: number) =>
      (await fixture.open({ startFrom: { timestamp } }).discover([])).map(({ start }) => start);
    assert.deepEqual(await starts(1004), [3], "behind the last stable offset nothing can be read yet");
    log!.lastStable = undefined;
    assert.deepEqual([await starts(0), await starts(1004), await starts(9999)], [[3], [4], [5]]);
    fixture.topics.create("u")[0]!.append("a");
    const source = fixture.open({ topics: ["t", "u"], startFrom: "latest" });
    const [, later] = await source.discover([known(status!, 5)]);
    assert.deepEqual([later!.start, later!.end, later!.momentary], [0, 1, undefined]);
  });
});

suite("a log against what is known of it (I8)", () => {
  async function read(values: number) {
    const fixture = new Fixture();
    const [log] = fixture.topics.create("t");
    for (let n = 0; n < values; n += 2) log!.append(`value ${n}`, `value ${n + 1}`);
    const [status] = await fixture.open().discover([]);
    return { fixture, log: log!, status: status! };
  }

  test("a leader epoch that ended below what was read", async () => {
    const { fixture, log, status } = await read(10);
    log.truncate(10);
    assert.equal((await fixture.open().discover([known(status, 10)]))[0]!.end, 10);
    log.truncate(0);
    log.append(...Array.from({ length: 20 }, () => "another"));
    // Of the epoch in which it was read, nothing is known any more.
    assert.equal((await fixture.open().discover([known(status, 10)]))[0]!.end, 20);
    const [later] = await fixture.open().discover([]);
    log.truncate(0);
    log.append(...Array.from({ length: 30 }, () => "a third"));
    await rejects(fixture.open().discover([known(later!, 20)]), loss, "kafka-log-truncated", /t\/0 lost .*from 0 on/);
    const range = { ...wholeRange(later!), from: 5 };
    await rejects(readValues(fixture.open(), range), loss, "kafka-log-truncated", /t\/0/);
  });

  test("an election between two answers is no loss", async () => {
    const { fixture, log, status } = await read(10);
    log.truncate(10);
    log.staleEpoch = 0;
    log.append("of the next leader");
    const [later] = await fixture.open().discover([known(status, 10)]);
    log.staleEpoch = undefined;
    assert.equal((await fixture.open().discover([known(later!, 11)]))[0]!.end, 11);
    assert.equal((await readValues(fixture.open(), wholeRange(later!))).length, 11);
  });

  test("metadata that are old take nothing back", async () => {
    const { fixture, log, status } = await read(10);
    log.leaderEpoch = 5;
    const [newer] = await fixture.open().discover([known(status, 10)]);
    log.leaderEpoch = 4;
    const [older] = await fixture.open().discover([known(newer!, 10)]);
    assert.deepEqual(older!.identity, newer!.identity);
  });

  test("an end below the position may be that of a broker which has not caught up: a loss after a minute only", async () => {
    const { fixture, log, status } = await read(10);
    const source = fixture.open();
    const discover = () => source.discover([known(status, 10)]);
    log.highWatermark = 8;
    await rejects(discover(), infrastructure, "kafka-end-below-position", /ends at offset 8.*up to 10/);
    fixture.now += 59_000;
    await rejects(discover(), infrastructure, "kafka-end-below-position", /8/);
    log.highWatermark = undefined;
    assert.equal((await discover())[0]!.end, 10);
    log.highWatermark = 8;
    fixture.now += 30_000;
    await rejects(discover(), infrastructure, "kafka-end-below-position", /8/);
    fixture.now += 60_000;
    await rejects(discover(), loss, "kafka-end-below-position", /longer than a minute/);
    await rejects(readValues(source, wholeRange(status)), infrastructure, "kafka-end-below-position", /t\/0/);
  });

  test("what begins behind the position was deleted", async () => {
    const { fixture, log, status } = await read(10);
    log.start = 4;
    await rejects(fixture.open().discover([known(status, 3)]), loss, "kafka-offsets-gone", /Offsets 3 to 3 of t\/0/);
    await rejects(readValues(fixture.open(), wholeRange(status)), loss, "kafka-offsets-gone", /0 to 3/);
    assert.equal((await readValues(fixture.open(), { ...wholeRange(status), from: 4 })).length, 6);
  });

  test("a bounded run keeps the ends that it began with", async () => {
    const { fixture, log } = await read(10);
    log.lastStable = 6;
    const source = fixture.open({}, { bounded: true });
    const [first] = await source.discover([]);
    assert.deepEqual([first!.end, first!.high], [6, 10]);
    log.append("more");
    log.lastStable = undefined;
    assert.deepEqual(await source.discover([known(first!, 2)]), [first]);
  });
});

suite("reading", () => {
  async function open(values: number, perBatch = 10, surroundings: Partial<KafkaSourceSurroundings> = {}) {
    const fixture = new Fixture();
    const [log] = fixture.topics.create("t");
    for (let n = 0; n < values; n += perBatch)
      log!.append(...Array.from({ length: perBatch }, (_, k) => `value ${n + k}`));
    const source = fixture.open({}, { fetchBytes: 300, ...surroundings });
    const [status] = await source.discover([]);
    return { fixture, log: log!, source, range: wholeRange(status!) };
  }

  test("the next fetch is under way while the consumer works", async () => {
    const { fixture, source, range } = await open(100);
    const fetches = () => fixture.topics.calls.filter(({ method }) => method === "fetch").length;
    const before: number[] = [];
    for await (const { next } of source.read(range)) before.push(fetches() - (next < range.to ? 1 : 0));
    assert.deepEqual(
      before,
      before.map((_, n) => n + 1),
    );
  });

  test("a consumer that leaves ends the fetch that is under way", async () => {
    const { fixture, source, range } = await open(100);
    let aborted = 0;
    const original = fixture.topics.client();
    const watched = {
      ...original,
      fetch: (request: Parameters<typeof original.fetch>[0], signal?: AbortSignal) => {
        signal?.addEventListener("abort", () => aborted++);
        return original.fetch(request, signal);
      },
    };
    const again = createKafkaSource({ topics: ["t"], startFrom: "earliest", isolation: "read_committed" }, watched, {
      bounded: false,
      clock: { now: () => 0, sleep: async () => {} },
      fetchBytes: 300,
    });
    for await (const _ of again.read(range)) break;
    assert.ok(aborted > 0);
    assert.equal((await readValues(source, range)).length, 100);
  });

  test("what passes by itself is ridden out", async () => {
    const { fixture, source, range } = await open(100);
    const failures = ["NOT_LEADER_OR_FOLLOWER", "DISCONNECTED", "TIMED_OUT", "OFFSET_OUT_OF_RANGE", "UNREACHABLE"];
    let fetches = 0;
    fixture.topics.before = (method) => {
      if (method === "fetch" && ++fetches % 2 === 0 && failures.length > 0) throw refusal(failures.pop()!);
    };
    assert.equal((await readValues(source, range)).length, 100);
    assert.deepEqual(failures, []);
  });

  test("what does not pass says what it is and where", async () => {
    const { fixture, source, range } = await open(100);
    for (const name of ["NOT_LEADER_OR_FOLLOWER", "TOPIC_AUTHORIZATION_FAILED"]) {
      fixture.topics.before = (method, request) => {
        if (method === "fetch" && request!.offset > 0) throw refusal(name);
      };
      await assert.rejects(readValues(source, range), (error) => {
        assert.ok(error instanceof InfrastructureError);
        assert.match(error.message, new RegExp(`t/0 could not be read at offset \\d+ .*${name}`));
        return error.place.partition === "t/0" && error.place.offset! > 0;
      });
    }
  });

  test("offsets that were compacted away at the end of a range are passed over", async () => {
    const { log, source, range } = await open(20);
    log.gap = 5;
    const values = await readValues(source, { ...range, to: 25 });
    assert.equal(values.length, 20);
    assert.equal((await readValues(source, { ...range, from: 22, to: 25 })).length, 0);
  });

  test("records of an open transaction are waited for, in vain here", async () => {
    const { log, source, range } = await open(20);
    log.lastStable = 10;
    await rejects(readValues(source, range), infrastructure, "kafka-end-below-position", /ends at offset 10/);
  });

  test("an answer without records, for no reason, is no end", async () => {
    const { log, source, range } = await open(20);
    log.emptyAnswers = 1;
    assert.equal((await readValues(source, range)).length, 20);
  });

  test("a batch larger than a fetch comes whole", async () => {
    const { source, range } = await open(100, 50, { fetchBytes: 10 });
    assert.equal((await readValues(source, range)).length, 100);
  });
});

suite("sizes", () => {
  const range = (from: number, to: number): SourceRange => ({
    id: "t/0",
    identity: { topicId: "id-0", leaderEpoch: 0 },
    from,
    to,
  });

  async function open(value: string | null, count = 1000) {
    const fixture = new Fixture();
    const [log] = fixture.topics.create("t");
    log!.append(...Array.from({ length: count }, () => value));
    return { fixture, log: log!, source: fixture.open() };
  }

  test("bytes are those of values, estimated by a look at some", async () => {
    const { source } = await open("x".repeat(40));
    assert.deepEqual(await source.cut(range(0, 1000), { bytes: 4000 }), { to: 100, records: 100, bytes: 4000 });
    assert.deepEqual(await source.cut(range(100, 1000), { bytes: 1 }), { to: 101, records: 1, bytes: 40 });
    assert.deepEqual(await source.cut(range(0, 1000), { records: 7, bytes: 4000 }), { to: 7, records: 7, bytes: 280 });
    assert.deepEqual(await source.cut(range(0, 10), {}), { to: 10, records: 10, bytes: 400 });
    assert.deepEqual(await source.split(range(0, 1000), 10_000), [250, 500, 750]);
    assert.deepEqual(await source.split(range(5, 6), 1), []);
  });

  test("tombstones are worth something too", async () => {
    const { source } = await open(null);
    assert.deepEqual(await source.cut(range(0, 1000), { bytes: 10 }), { to: 10, records: 10, bytes: 10 });
  });

  test("a look is taken again after a while, for the next plan, and counts half", async () => {
    const { fixture, log, source } = await open("x".repeat(40));
    const bytes = async (from: number) => (await source.cut(range(from, from + 1), {})).bytes;
    assert.equal(await bytes(0), 40);
    log.append(...Array.from({ length: 10 }, () => "x".repeat(80)));
    assert.equal(await bytes(1005), 40);
    fixture.now += 10_000;
    assert.equal(await bytes(1005), 40, "nobody waits for it");
    await setTimeout(10);
    assert.equal(await bytes(1005), 60);
    fixture.now += 10_000;
    fixture.topics.before = () => {
      throw refusal("DISCONNECTED");
    };
    assert.equal(await bytes(1005), 60);
    await setTimeout(10);
    assert.equal(await bytes(1005), 60, "what fails is left to whoever reads");
  });

  test("place names partition and offset", async () => {
    const { source } = await open("a");
    assert.deepEqual(await source.place!(range(0, 5), 3), { partition: "t/0", offset: 3 });
  });
});
