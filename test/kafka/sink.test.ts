import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once as onceEmitted } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { KafkaClient } from "../../shared/adapters/kafka/client.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { murmur2, placeOf } from "../../shared/adapters/kafka/sink/partitioner.ts";
import { createKafkaSink } from "../../shared/adapters/kafka/sink/sink.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { systemRandom } from "../../shared/adapters/system/random.ts";
import { type SinkUnderTest, sinkConformance } from "../../shared/testing/sink-conformance.ts";
import { folderOf } from "../support/folder.ts";
import { kafkaVersions } from "../support/kafka/broker.ts";
import type { Lane } from "../support/kafka/lane.ts";
import { once } from "../support/kafka/lane.ts";
import { type Oracle, startOracle } from "../support/kafka/oracle.ts";
import { type ProxiedKafka, startProxiedKafka } from "../support/kafka/proxied.ts";
import { type LanePlace, realLane } from "../support/kafka/real-lane.ts";
import { type Row, settingsOf } from "../support/kafka/sink-settings.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { after, before, describe, test } = await needing(aBroker);

const program = new URL("../support/kafka/committer.ts", import.meta.url).pathname;
/** Calls to Kafka of a commit that is not warm: fence, marker, begin, two rounds of batches, marker, end. */
const callsOfCommit = 7;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name));

for (const version of kafkaVersions)
  describe(`sink on Kafka ${version}`, { concurrency: false }, () => {
    let kafka: ProxiedKafka;
    let oracle: Oracle;
    let client: KafkaClient;
    let made = 0;

    before(async () => {
      // Transactions that take too long are looked for every 500 ms.
      const settings = { "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500 };
      kafka = await startProxiedKafka({ version, settings });
      oracle = await startOracle(kafka.broker.bootstrap, { version });
      client = createKafkaClient({ brokers: [kafka.broker.bootstrap], clientId: "test" });
    });
    after(async () => {
      await client.close();
      await oracle.close();
      await kafka[Symbol.asyncDispose]();
    });

    const newTopic = async (partitions = 2, config: Record<string, string> = {}): Promise<string> => {
      const topic = `topic-${made++}`;
      await oracle.createTopic(topic, partitions, config);
      await until("the topic is known", async () => (await client.topics([topic])).length > 0);
      return topic;
    };
    const seen = async (topic: string, partitions = 2): Promise<number[][]> => {
      await oracle.settled(topic);
      const records = await oracle.read(topic);
      return Array.from({ length: partitions }, (_, partition) =>
        records.filter((one) => one.partition === partition).map(({ value }) => JSON.parse(value!.toString()).n),
      );
    };

    sinkConformance(`kafka ${version}`, async (): Promise<SinkUnderTest<Row>> => {
      const topic = await newTopic(3);
      const objects = new MemoryObjectStore();
      const settings = settingsOf({ topic, markerTopic: topic });
      return {
        open: () => createKafkaSink(settings, client, objects, { clock: systemClock, random: systemRandom }),
        read: async () => {
          await oracle.settled(topic);
          return (await oracle.read(topic)).map(({ value }) => JSON.parse(value!.toString()));
        },
        row: (n) => ({ n, key: `key ${n % 7}` }),
        badRow: { n: 1, toJSON: () => undefined } as unknown as Row,
        close: async () => {},
      };
    });

    /** A lane whose first epoch is committed. */
    const begun = async (place: LanePlace): Promise<Lane> => {
      const lane = realLane(place, client);
      await lane.decide(1);
      await lane.process().commit(1);
      lane.settle(1);
      return lane;
    };
    const startCommitter = (place: LanePlace, epoch: number, ordinal: number, when: string, signal: string) => {
      const given = [kafka.broker.bootstrap, JSON.stringify(place), epoch, ordinal, when, signal].map(String);
      return spawn(process.execPath, [program, ...given], { stdio: ["ignore", "pipe", "inherit"] });
    };
    const outputOf = (child: ChildProcess) => {
      const output = { text: "" };
      child.stdout!.on("data", (bytes) => {
        output.text += bytes;
      });
      return output;
    };

    for (const when of ["before", "after"])
      test(`a committer may die ${when} whatever call`, async (context) => {
        const topic = await newTopic();
        const place = { topic, folder: folderOf(context) };
        const lane = await begun(place);
        const epochs = [1];
        for (let ordinal = 0; ordinal < callsOfCommit; ordinal++) {
          const epoch = ordinal + 2;
          await lane.decide(epoch);
          const child = startCommitter(place, epoch, ordinal, when, "SIGKILL");
          const [, signal] = await onceEmitted(child, "exit");
          assert.equal(signal, "SIGKILL", `call ${ordinal}`);
          await lane.process().commit(epoch);
          lane.settle(epoch);
          epochs.push(epoch);
        }
        assert.deepEqual(await seen(topic), once(...epochs));
      });

    test("a committer that sleeps at whatever call, and wakes up later, changes nothing", async (context) => {
      const topic = await newTopic();
      const place = { topic, folder: folderOf(context) };
      const lane = await begun(place);
      const epochs = [1];
      for (let ordinal = 0; ordinal < callsOfCommit; ordinal++) {
        const epoch = 2 * ordinal + 2;
        await lane.decide(epoch);
        const child = startCommitter(place, epoch, ordinal, "before", "SIGSTOP");
        const output = outputOf(child);
        const ended = onceEmitted(child, "exit");
        await until("the committer sleeps", async () => output.text.split("\n").length > ordinal + 1);
        await lane.process().commit(epoch);
        // Every second zombie wakes up before the ledger knows.
        if (ordinal % 2 === 0) {
          lane.settle(epoch);
          await lane.decide(epoch + 1);
          await lane.process().commit(epoch + 1);
          lane.settle(epoch + 1);
        }
        child.kill("SIGCONT");
        await ended;
        if (ordinal % 2 === 1) {
          lane.settle(epoch);
          await lane.decide(epoch + 1);
          await lane.process().commit(epoch + 1);
          lane.settle(epoch + 1);
        }
        epochs.push(epoch, epoch + 1);
      }
      assert.deepEqual(await seen(topic), once(...epochs));
    });

    test("a committer that died in the middle holds readers up for the transaction's time-out at most", async (context) => {
      const topic = await newTopic();
      const place = { topic, folder: folderOf(context), transactionTimeoutMs: 5000 };
      const lane = await begun(place);
      await lane.decide(2);
      const child = startCommitter(place, 2, 5, "before", "SIGKILL");
      await onceEmitted(child, "exit");
      const open = async () =>
        (await oracle.offsets(topic, "last-stable")).join() !== (await oracle.offsets(topic, "high-watermark")).join();
      assert.ok(await open());
      await until("the transaction is over", async () => !(await open()));
      assert.deepEqual(await seen(topic), once(1));
      await lane.process().commit(2);
      assert.deepEqual(await seen(topic), once(1, 2));
    });

    test("an idle sink loses nothing, and goes on, however long a transaction may take", async (context) => {
      const topic = await newTopic();
      const lane = realLane({ topic, folder: folderOf(context), transactionTimeoutMs: 5000 }, client);
      const [process, other] = [lane.process(), lane.process()];
      await lane.decide(1);
      await process.commit(1);
      lane.settle(1);
      await lane.decide(2);
      await sleep(6000);
      await process.commit(2);
      lane.settle(2);
      await lane.decide(3);
      await other.commit(3);
      assert.deepEqual(await seen(topic), once(1, 2, 3));
    });

    test("connections that break at any time lose nothing, and double nothing", async (context) => {
      const topic = await newTopic();
      const random = new SeededRandom(7);
      const impatient = createKafkaClient(
        { brokers: [kafka.proxy.address], clientId: "test" },
        { connectMs: 20_000, callMs: 2000 },
      );
      const place = { topic, folder: folderOf(context) };
      const lane = realLane(place, impatient);
      const epochs = [];
      let process = lane.process();
      for (let epoch = 1; epoch <= 30; epoch++) {
        await realLane(place, client).decide(epoch);
        const mischief = (async () => {
          await sleep(random.below(40));
          const kind = random.below(3);
          if (kind === 0) kafka.proxy.reset();
          else if (kind === 1) kafka.proxy.dropNext("reset");
          else if (epoch % 10 === 0) kafka.proxy.dropNext("silence");
        })();
        await process.commit(epoch);
        await mischief;
        lane.settle(epoch);
        epochs.push(epoch);
        if (epoch % 5 === 0) process = lane.process();
      }
      await impatient.close();
      assert.deepEqual(await seen(topic), once(...epochs));
    });

    test("a broker that is down is waited for", async (context) => {
      const topic = await newTopic();
      const lane = realLane({ topic, folder: folderOf(context) }, client);
      const process = lane.process();
      const epochs = [];
      let restarted: Promise<void> | undefined;
      for (let epoch = 1; epoch <= 12; epoch++) {
        await lane.decide(epoch);
        if (epoch === 4) {
          // Not in the middle of a transaction: 4.4.0 might leave that open for ever (KAFKA-20734).
          await oracle.settled(topic);
          await kafka.broker.kill();
          restarted = kafka.broker.restart();
        }
        // It waits for most of a minute; on a busy machine the broker may take longer. Then the state machine tries again.
        await process.commit(epoch).catch(async (error) => {
          assert.equal(error.kind, "infrastructure");
          await restarted;
          await process.commit(epoch);
        });
        lane.settle(epoch);
        epochs.push(epoch);
      }
      await restarted;
      assert.deepEqual(await seen(topic), once(...epochs));
    });

    test("a topic that goes is waited for; one that is made anew goes on where it ended", async (context) => {
      const topic = await newTopic();
      const lane = await begun({ topic, folder: folderOf(context) });
      await lane.decide(2);
      await oracle.deleteTopic(topic);
      await until("the topic is gone", async () => (await client.topics([topic])).length === 0);
      await assert.rejects(lane.process().commit(2), { kind: "infrastructure" });
      await oracle.createTopic(topic, 2);
      await until("the topic is known", async () => (await client.topics([topic])).length > 0);
      await lane.process().commit(2);
      lane.settle(2);
      await lane.decide(3);
      await lane.process().commit(3);
      assert.deepEqual(await seen(topic), once(2, 3));
    });

    test("staged records that were damaged are refused by the broker, and then told; mended, they are committed", async (context) => {
      const topic = await newTopic();
      const place = { topic, folder: folderOf(context) };
      const lane = await begun(place);
      const before = new Set(filesIn(place.folder));
      await lane.decide(2);
      const damage = () => {
        for (const file of filesIn(place.folder).filter((one) => one.endsWith(".staged") && !before.has(one))) {
          const bytes = readFileSync(file);
          bytes[bytes.length - 2]! ^= 1;
          writeFileSync(file, bytes);
        }
      };
      damage();
      await assert.rejects(lane.process().commit(2), { code: "staged-damaged", kind: "loss" });
      assert.deepEqual(await seen(topic), once(1));
      damage();
      await lane.process().commit(2);
      assert.deepEqual(await seen(topic), once(1, 2));
    });

    test("a limit that was lowered is waited for, and holds no reader up", async (context) => {
      const topic = await newTopic();
      const lane = await begun({ topic, folder: folderOf(context) });
      await lane.decide(2, [[{ n: 200, key: "k".repeat(1000) }, { n: 201 }]]);
      await oracle.configureTopic(topic, { "max.message.bytes": "500" });
      await assert.rejects(lane.process().commit(2), { code: "kafka-message-too-large", kind: "infrastructure" });
      assert.deepEqual(await seen(topic), once(1));
      await oracle.configureTopic(topic, { "max.message.bytes": "100000" });
      await lane.process().commit(2);
      assert.deepEqual(await seen(topic), [
        [100, 102, 200],
        [101, 103, 201],
      ]);
    });

    test("keys go where Java's default partitioner puts them, in all codecs", async () => {
      const random = new SeededRandom(3);
      for (const [epoch, compression] of (["none", "gzip", "snappy", "lz4", "zstd"] as const).entries()) {
        const topic = await newTopic(7);
        const owner = { pipeline: "codecs", uid: compression, sink: "s" };
        const settings = settingsOf<Row>({ topic, markerTopic: topic, compression });
        const sink = createKafkaSink(settings, client, new MemoryObjectStore(), {
          clock: systemClock,
          random: systemRandom,
        });
        await sink.open(owner);
        const transaction = await sink.begin({ ...owner, epoch: 1, attempt: 1, stage: 0, task: 0, nonce: "n" });
        const rows = Array.from({ length: 2000 }, (_, n) => ({
          n,
          key: "ä".repeat(n % 3) + random.nonce().slice(0, random.below(20)),
        }));
        transaction.write(rows, undefined, (index) => 1_700_000_000_000 + index);
        const handle = (await sink.preCommit(transaction))!;
        const [unit] = sink.units!([{ stage: 0, task: 0, handle }], { epoch: 1, token: "t", previous: () => null });
        const ledger = {
          unit: async () => ({ status: "prepared" as const, unit: null }),
          decidedAt: async () => Date.now(),
          committed: async () => epoch,
          recover: async () => {},
        };
        await sink.commit({ ...owner, epoch: 1, ...unit!, ledger });
        await oracle.settled(topic);
        const read = await oracle.read(topic);
        assert.equal(read.length, rows.length);
        for (const { key, value, timestamp, partition } of read) {
          const { n } = JSON.parse(value!.toString());
          assert.deepEqual([key!.toString(), timestamp], [rows[n]!.key, 1_700_000_000_000 + n]);
          assert.equal(partition, placeOf(murmur2(key!), 7));
          if (n < 50) assert.equal(partition, await oracle.partitionFor(key!, 7));
        }
      }
    });
  });
