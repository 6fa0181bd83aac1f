/** What happens to brokers, connections and topics while we read: a read rides it out and gives each record once, or says what is lost. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { KafkaClient } from "../../shared/adapters/kafka/client.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { retrying } from "../../shared/adapters/kafka/retrying.ts";
import { createKafkaSource, type KafkaSourceSurroundings } from "../../shared/adapters/kafka/source/source.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { EpochflowError, InfrastructureError, LossError, UsageError } from "../../shared/errors.ts";
import type { KafkaSourceSettings } from "../../shared/pipeline/connectors/kafka.ts";
import type { KnownPartition, PartitionStatus, Source, SourceRange } from "../../shared/ports/source.ts";
import { recordsOf, wholeRange } from "../../shared/testing/source-scenario.ts";
import { temporaryFolder } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { kafkaClassPath } from "../support/kafka/jars.ts";
import { type Oracle, startOracle } from "../support/kafka/oracle.ts";
import { type ProxiedKafka, startProxiedKafka } from "../support/kafka/proxied.ts";
import { aBroker, needing } from "../support/needing.ts";

const { after, before, suite, test } = await needing(aBroker);

const count = 5_000;
const numbers = Array.from({ length: count }, (_, n) => `number ${n} ${"x".repeat(100)}`);
/** So that a read takes many fetches. */
const fetchBytes = 4096;

for (const version of kafkaVersions) {
  suite(`faults under a read, Kafka ${version}`, { concurrency: false }, () => {
    let kafka: ProxiedKafka;
    let oracle: Oracle;
    let client: KafkaClient;
    let topics = 0;
    before(async () => {
      kafka = await startProxiedKafka({ version });
      oracle = await startOracle(kafka.broker.bootstrap, { version });
      client = createKafkaClient({ brokers: [kafka.proxy.address], clientId: "test" }, { callMs: 1_000 });
    });
    after(async () => {
      await client.close();
      await oracle.close();
      await kafka[Symbol.asyncDispose]();
    });

    async function newTopic(values: readonly string[], partitions = 1): Promise<string> {
      const topic = `faults-${topics++}`;
      await oracle.createTopic(topic, partitions);
      await append(topic, values);
      return topic;
    }

    async function append(topic: string, values: readonly string[]): Promise<void> {
      await using producer = await oracle.producer({ properties: { "batch.size": 2000 } });
      await producer.send(...values.map((value, n) => ({ topic, partition: 0, timestamp: 1000 + n, value })));
    }

    const open = (
      topic: string,
      settings: Partial<KafkaSourceSettings> = {},
      surroundings: Partial<KafkaSourceSurroundings> = {},
    ) =>
      createKafkaSource({ topics: [topic], startFrom: "earliest", isolation: "read_committed", ...settings }, client, {
        bounded: false,
        clock: systemClock,
        fetchBytes,
        ...surroundings,
      });

    /** Reads all, and does something after some batches. */
    async function readThrough(source: Source, range: SourceRange, faults: Readonly<Record<number, () => unknown>>) {
      const values: string[] = [];
      let batches = 0;
      for await (const { bytes, count, valueStart, valueEnd } of source.read(range)) {
        for (let row = 0; row < count; row++) values.push(bytes.toString("utf8", valueStart[row], valueEnd[row]));
        await faults[batches++]?.();
      }
      assert.ok(batches > Math.max(...Object.keys(faults).map(Number)), `${batches} batches`);
      return values;
    }

    const whole = async (source: Source) => wholeRange((await source.discover([]))[0]!);

    test("connections are reset, again and again", async () => {
      const source = open(await newTopic(numbers));
      const faults = Object.fromEntries([3, 4, 20, 40].map((at) => [at, () => kafka.proxy.reset()]));
      assert.deepEqual(await readThrough(source, await whole(source), faults), numbers);
    });

    test("a connection is silent, and an answer is lost", async () => {
      const source = open(await newTopic(numbers));
      const faults = {
        3: () => kafka.proxy.dropNext("silence"),
        20: () => {
          kafka.proxy.stall();
          setTimeout(() => kafka.proxy.resume(), 1_500);
        },
      };
      assert.deepEqual(await readThrough(source, await whole(source), faults), numbers);
    });

    test("the broker is restarted, and killed", async () => {
      const topic = await newTopic(numbers);
      const source = open(topic);
      const range = await whole(source);
      let restarted = Promise.resolve();
      const faults = {
        // Not waited for: the read goes on meanwhile, as far as it can.
        3() {
          restarted = kafka.broker.restart();
        },
        async 40() {
          await restarted;
          await kafka.broker.kill();
          restarted = kafka.broker.restart();
        },
      };
      assert.deepEqual(await readThrough(source, range, faults), numbers);
      await restarted;
      // Another leader epoch, and nothing is lost.
      const [status] = await source.discover([{ id: range.id, identity: range.identity, position: range.to }]);
      assert.equal(status!.end, range.to);
      assert.ok(leaderEpoch(status!) > leaderEpoch(range));
      assert.deepEqual((await readThrough(open(topic), range, {})).length, count);
    });

    test("throttling is waited for", async () => {
      await quota(kafka, "consumer_byte_rate=100000");
      try {
        const source = open(await newTopic(numbers));
        assert.deepEqual(await readThrough(source, await whole(source), {}), numbers);
      } finally {
        await quota(kafka);
      }
    });

    test("a broker that stays away: who, what and where", async () => {
      const source = open(await newTopic(numbers), {}, { timeoutMs: 1_500 });
      const range = await whole(source);
      const away = readThrough(source, range, { 3: () => kafka.proxy.stall() });
      try {
        await assert.rejects(away, (error) => {
          assert.ok(error instanceof InfrastructureError);
          assert.equal(error.place.partition, range.id);
          assert.ok(error.place.offset! > range.from);
          assert.match(
            error.message,
            new RegExp(`${range.id} could not be read at offset \\d+ .*${kafka.proxy.address}`),
          );
          return true;
        });
      } finally {
        kafka.proxy.resume();
      }
      assert.deepEqual(await readThrough(source, range, {}), numbers);
    });

    test("records are deleted under the read", async () => {
      const topic = await newTopic(numbers);
      const source = open(topic);
      const range = await whole(source);
      await assert.rejects(
        readThrough(source, range, { 3: () => oracle.deleteRecords(topic, 0, count - 10) }),
        isLoss("kafka-offsets-gone", range.id),
      );
      assert.deepEqual(await readThrough(source, { ...range, from: count - 10 }, {}), numbers.slice(-10));
    });

    test("the topic is made anew under the read, with as many records", async () => {
      const topic = await newTopic(numbers);
      const source = open(topic);
      const range = await whole(source);
      const remake = async () => {
        await oracle.deleteTopic(topic);
        await oracle.createTopic(topic, 1);
        await append(topic, numbers);
      };
      await assert.rejects(readThrough(source, range, { 3: remake }), isLoss("kafka-topic-replaced", range.id));
    });

    test("a topic that is not there yet, and one that was", async () => {
      const topic = "late";
      const source = open(topic);
      await assert.rejects(source.discover([]), (error) => {
        assert.ok(error instanceof InfrastructureError);
        assert.match(error.message, /topic late does not exist/);
        return error.wayOut !== undefined;
      });
      await oracle.createTopic(topic, 1);
      await append(topic, ["a"]);
      assert.deepEqual(await readThrough(source, await whole(source), {}), ["a"]);
      const known = asKnown((await source.discover([]))[0]!);
      await oracle.deleteTopic(topic);
      await assert.rejects(source.discover([known]), isLoss("kafka-topic-gone", "late/0"));
    });

    test("partitions are added", async () => {
      const topic = await newTopic(["a", "b"]);
      const source = open(topic, { startFrom: "latest" });
      const [first] = await source.discover([]);
      assert.deepEqual([first!.start, first!.momentary], [2, true]);
      await oracle.addPartitions(topic, 3);
      await using producer = await oracle.producer();
      await producer.send({ topic, partition: 2, value: "c" });
      const later = await source.discover([asKnown(first!)]);
      assert.deepEqual(
        later.map(({ id, start, end, momentary }) => [id, start, end, momentary]),
        [
          [`${topic}/0`, 0, 2, undefined],
          [`${topic}/1`, 0, 0, undefined],
          [`${topic}/2`, 0, 1, undefined],
        ],
      );
    });

    test("starts: by time, by offset, at the end, and of an open transaction", async () => {
      const topic = await newTopic(["a", "b", "c", "d"]);
      const start = async (startFrom: KafkaSourceSettings["startFrom"]) => {
        const [status] = await open(topic, { startFrom }).discover([]);
        return [status!.start, status!.momentary === true, status!.end];
      };
      await oracle.deleteRecords(topic, 0, 1);
      assert.deepEqual(await start("earliest"), [1, false, 4]);
      assert.deepEqual(await start({ timestamp: 0 }), [1, true, 4]);
      assert.deepEqual(await start({ timestamp: 1002 }), [2, true, 4]);
      assert.deepEqual(await start({ timestamp: 5000 }), [4, true, 4]);
      assert.deepEqual(await start({ offsets: { 0: 3 } }), [3, false, 4]);
      assert.deepEqual(await start({ offsets: { [`${topic}/0`]: 4, 0: 2 } }), [4, false, 4]);
      await assert.rejects(start({ offsets: { 0: 0 } }), isUsage(/begins faults-\d+\/0 at 0, .* 1 to 4/));
      await assert.rejects(start({ offsets: { 0: 5 } }), isUsage(/at 5/));
      await assert.rejects(start({ offsets: { 1: 2 } }), isUsage(/names 1/));
      await using producer = await oracle.producer({ transactionalId: topic });
      await producer.begin();
      await producer.send({ topic, partition: 0, timestamp: 2000, value: "open" });
      assert.deepEqual(await start("latest"), [4, true, 4]);
      assert.deepEqual(await start({ timestamp: 1500 }), [4, true, 4]);
      const [status] = await open(topic).discover([]);
      assert.deepEqual([status!.end, status!.high], [4, 5]);
      const [dirty] = await open(topic, { isolation: "read_uncommitted" }).discover([]);
      assert.deepEqual([dirty!.end, dirty!.high], [5, 5]);
      await producer.abort();
    });

    test("a bounded run ends where the topic ended when it began", async () => {
      const topic = await newTopic(["a", "b"]);
      const source = open(topic, {}, { bounded: true });
      const [first] = await source.discover([]);
      await append(topic, ["c"]);
      await oracle.addPartitions(topic, 2);
      assert.deepEqual(await source.discover([]), [first]);
      assert.equal((await open(topic, {}, { bounded: true }).discover([])).length, 2);
    });
  });

  /** Sets the quota of all clients, or removes it. */
  async function quota({ broker }: ProxiedKafka, value?: string): Promise<void> {
    const change = value === undefined ? ["--delete-config", "consumer_byte_rate"] : ["--add-config", value];
    const configTool = version === "3.9.2" ? "kafka.admin.ConfigCommand" : "org.apache.kafka.tools.ConfigCommand";
    await promisify(execFile)("java", [
      ...["-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", await kafkaClassPath(version), configTool],
      ...["--bootstrap-server", broker.bootstrap, "--alter", "--entity-type", "clients", "--entity-default", ...change],
    ]);
    await sleep(100);
  }
}

for (const version of kafkaVersions) {
  test(`a disk that lost the end of a log (I8), Kafka ${version}`, async (context) => {
    const clock = { ...systemClock };
    using folder = temporaryFolder();
    await using broker = await startKafka({ version, directory: folder.path });
    if (broker.launcher !== "jars") return context.skip("the files of a container are not ours");
    await using oracle = await startOracle(broker.bootstrap, { version });
    await oracle.createTopic("t", 1);
    await using producer = await oracle.producer();
    for (let n = 0; n < 20; n++) await producer.send({ topic: "t", value: `${n}` });
    const client = createKafkaClient({ brokers: [broker.bootstrap], clientId: "test" });
    const source = createKafkaSource({ topics: ["t"], startFrom: "earliest", isolation: "read_committed" }, client, {
      bounded: false,
      clock,
    });
    try {
      const [before] = await source.discover([]);
      assert.equal(before!.end, 20);
      await broker.kill();
      const segment = join(folder.path, "data", "t-0", `${"0".repeat(20)}.log`);
      truncateSync(segment, statSync(segment).size / 2);
      await broker.restart();
      const known = asKnown(before!);
      const now = await retrying(async () => (await client.topics(["t"]))[0]!.partitions[0]!, { timeoutMs: 20_000 });
      if (now.leaderEpoch === leaderEpoch(before!)) {
        // A broker that is killed together with its controller may lead on as if nothing had been. What is left is that the end is too low.
        await assert.rejects(source.discover([known]), {
          name: "InfrastructureError",
          code: "kafka-end-below-position",
        });
        clock.now = () => Date.now() + 60_000;
        await assert.rejects(source.discover([known]), isLoss("kafka-end-below-position", "t/0"));
        return;
      }
      await assert.rejects(source.discover([known]), isLoss("kafka-log-truncated", "t/0"));
      // Other records take the place of those that are lost, and the end does not tell it any more.
      for (let n = 0; n < 20; n++) await producer.send({ topic: "t", value: `other ${n}` });
      await assert.rejects(source.discover([known]), isLoss("kafka-log-truncated", "t/0"));
      await assert.rejects(recordsOf(source, wholeRange(before!)), isLoss("kafka-log-truncated", "t/0"));
    } finally {
      await client.close();
    }
  });
}

const leaderEpoch = ({ identity }: { readonly identity: unknown }) => (identity as { leaderEpoch: number }).leaderEpoch;

const asKnown = ({ id, identity, end }: PartitionStatus): KnownPartition => ({ id, identity, position: end });

const isLoss = (code: string, partition: string) => (error: unknown) => {
  assert.ok(error instanceof LossError, String(error));
  assert.deepEqual([error.code, error.place.partition], [code, partition]);
  assert.ok(error.wayOut !== undefined && error.message.includes(partition));
  return true;
};

const isUsage = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof EpochflowError);
  assert.match(error.message, message);
  return error instanceof UsageError;
};
