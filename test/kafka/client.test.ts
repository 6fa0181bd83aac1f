import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { KafkaClient, ProducerIdentity } from "../../shared/adapters/kafka/client.ts";
import { KafkaError } from "../../shared/adapters/kafka/errors.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { retrying } from "../../shared/adapters/kafka/retrying.ts";
import { batchOf } from "../support/kafka/batches.ts";
import { kafkaVersions } from "../support/kafka/broker.ts";
import { type Oracle, startOracle } from "../support/kafka/oracle.ts";
import { readBatches } from "../support/kafka/plain-batch.ts";
import { type ProxiedKafka, startProxiedKafka } from "../support/kafka/proxied.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { after, before, describe, test } = await needing(aBroker);

const transactionTimeoutMs = 60_000;
/** Short, since some tests wait for them; connections get more, for a busy machine. */
const timeouts = { connectMs: 20_000, callMs: 2_000 };

for (const version of kafkaVersions) {
  describe(`client of Kafka ${version}`, { concurrency: false }, () => {
    let kafka: ProxiedKafka;
    let oracle: Oracle;
    let client: KafkaClient;
    let made = 0;

    before(async () => {
      kafka = await startProxiedKafka({ version });
      oracle = await startOracle(kafka.broker.bootstrap, { version });
      client = createKafkaClient({ brokers: [kafka.proxy.address], clientId: "test" });
      // The first coordinators take a while to come into being.
      await client.initProducer("first", transactionTimeoutMs);
      await client.groupOffset("first", "none");
    });
    after(async () => {
      await client.close();
      await oracle.close();
      await kafka[Symbol.asyncDispose]();
    });

    const newTopic = async (partitions = 1, config: Record<string, string> = {}): Promise<string> => {
      const topic = `topic-${made++}`;
      await oracle.createTopic(topic, partitions, config);
      await retrying(() => client.offsets([{ topic, partition: 0 }], "earliest"), { timeoutMs: 10_000 });
      return topic;
    };

    const begin = async (topic: string, partitions = [0]): Promise<ProducerIdentity> => {
      const producer = await client.initProducer(`id-of-${topic}`, transactionTimeoutMs);
      await client.addPartitions(
        producer,
        partitions.map((partition) => ({ topic, partition })),
      );
      return producer;
    };

    const produce = (producer: ProducerIdentity, topic: string, values: string[], sequence = 0): Promise<void> =>
      client.produce(producer, [{ topic, partition: 0, batch: batchOf(producer, values, { sequence }) }]);

    const fetch = (topic: string, offset = 0, partition = 0) =>
      client.fetch({ topic, partition, offset, isolation: "read_committed", maxBytes: 1 << 20, maxWaitMs: 100 });

    const read = async (topic: string, partition = 0): Promise<string[]> => {
      const { records } = await fetch(topic, 0, partition);
      return readBatches(records)
        .filter((batch) => !batch.control)
        .flatMap((batch) => batch.records.map(({ value }) => String(value)));
    };

    const failure = async (call: Promise<unknown>, broker: string): Promise<KafkaError> => {
      const error = await call.then(
        () => assert.fail(`no ${broker}`),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof KafkaError, String(error));
      assert.equal(error.broker, broker, error.message);
      return error;
    };

    test("topics have ids, leaders and leader epochs; those that do not exist are left out", async () => {
      const topic = await newTopic(3);
      const found = await client.topics([topic, "nowhere"]);
      assert.equal(found.length, 1);
      const { id, internal, partitions } = found[0]!;
      assert.match(id, /^[\w-]{22}$/);
      assert.equal(internal, false);
      assert.deepEqual(
        partitions.map(({ partition, leader }) => [partition, leader]),
        [
          [0, 1],
          [1, 1],
          [2, 1],
        ],
      );
      const all = await client.topics(null);
      assert.deepEqual(
        all.find((each) => each.topic === topic),
        found[0],
      );
      assert.equal(all.find((each) => each.topic === "__consumer_offsets")?.internal, true);

      await oracle.deleteTopic(topic);
      await retrying(() => oracle.createTopic(topic, 3), { timeoutMs: 10_000, retryable: () => true });
      const again = async () => (await client.topics([topic]))[0]?.id;
      await until("the topic is there again", async () => ![undefined, id].includes(await again()));
    });

    test("offsets: ends of the log, and times", async () => {
      const topic = await newTopic(2);
      const both = [
        { topic, partition: 1 },
        { topic, partition: 0 },
      ];
      const producer = await begin(topic, [0]);
      for (const [sequence, timestamp] of [1_000, 2_000, 3_000].entries()) {
        const batch = batchOf(producer, ["x"], { sequence, timestamp });
        await client.produce(producer, [{ topic, partition: 0, batch }]);
      }
      const ends = async (...asked: Parameters<typeof client.ends>) =>
        (await client.ends(...asked)).map(({ offset, leaderEpoch }) => {
          assert.equal(leaderEpoch, 0);
          return offset;
        });
      assert.deepEqual(await ends(both, "read_uncommitted"), [0, 3]);
      assert.deepEqual(await ends(both, "read_committed"), [0, 0]);
      assert.deepEqual(await client.offsets(both, { timestamp: 2_000 }), [-1, 1]);
      assert.deepEqual(await client.offsets(both, { timestamp: 2_001 }), [-1, 2]);
      assert.deepEqual(await client.offsets(both, { timestamp: 3_001 }), [-1, -1]);
      await client.endTransaction(producer, "commit");
      await oracle.settled(topic);
      assert.deepEqual(await ends(both, "read_committed"), [0, 4]);
      await oracle.deleteRecords(topic, 0, 2);
      assert.deepEqual(await client.offsets(both, "earliest"), [0, 2]);
      assert.equal(await client.endOfLeaderEpoch(both[1]!, 0), 4);
      assert.equal(await client.endOfLeaderEpoch(both[1]!, 7), -1);
      assert.match((await failure(fetch(topic, 1), "OFFSET_OUT_OF_RANGE")).message, /offset 1 of topic-\d+\/0/);
      assert.equal((await fetch(topic, 2)).logStart, 2);
    });

    test("a transaction is seen when it is committed, and not when it is aborted", async () => {
      const topic = await newTopic(2);
      const producer = await begin(topic, [0, 1]);
      const batches = [0, 1].map((partition) => ({
        topic,
        partition,
        batch: batchOf(producer, ["a", `p${partition}`]),
      }));
      await client.produce(producer, batches);
      await produce(producer, topic, ["b"], 2);
      const open = await fetch(topic);
      assert.deepEqual([open.records.length, open.lastStable, open.highWatermark], [0, 0, 3]);
      await client.endTransaction(producer, "commit");
      await oracle.settled(topic);
      assert.deepEqual(
        [await read(topic), await read(topic, 1)],
        [
          ["a", "p0", "b"],
          ["a", "p1"],
        ],
      );

      await retrying(() => client.addPartitions(producer, [{ topic, partition: 0 }]), { timeoutMs: 10_000 });
      await produce(producer, topic, ["never"], 3);
      await client.endTransaction(producer, "abort");
      await oracle.settled(topic);
      const { aborted } = await fetch(topic);
      assert.deepEqual(aborted, [{ producerId: producer.producerId, firstOffset: 4 }]);
      const seen = (await oracle.read(topic, { partition: 0 })).map(({ value }) => String(value));
      assert.deepEqual(seen, ["a", "p0", "b"]);
    });

    test("the next transaction may have to wait until the one before is over", async () => {
      const topic = await newTopic(20);
      const partitions = Array.from({ length: 20 }, (_, partition) => partition);
      const producer = await begin(topic, partitions);
      await produce(producer, topic, ["x"]);
      let refused = false;
      // Markers are written at once on a quiet machine: some rounds are needed to be too early.
      for (let round = 0; round < 50 && !refused; round++) {
        await client.endTransaction(producer, "commit");
        const add = () =>
          client.addPartitions(
            producer,
            partitions.map((partition) => ({ topic, partition })),
          );
        await add().catch(async (error: unknown) => {
          assert.ok(error instanceof KafkaError && error.broker === "CONCURRENT_TRANSACTIONS", String(error));
          refused = true;
          await retrying(add, { timeoutMs: 10_000 });
        });
      }
      assert.ok(refused);
    });

    test("a new producer ends the transaction of the one before, and fences it", async () => {
      const topic = await newTopic();
      const old = await begin(topic);
      await produce(old, topic, ["never"]);
      const fresh = await client.initProducer(old.transactionalId, transactionTimeoutMs);
      assert.equal(fresh.producerId, old.producerId);
      assert.ok(fresh.producerEpoch > old.producerEpoch);
      await failure(client.addPartitions(old, [{ topic, partition: 0 }]), "INVALID_PRODUCER_EPOCH");
      await failure(produce(old, topic, ["never"], 1), "INVALID_PRODUCER_EPOCH");
      await failure(client.addGroupOffset(old, "g", topic, { offset: 1, metadata: "" }), "INVALID_PRODUCER_EPOCH");
      await failure(client.endTransaction(old, "commit"), "INVALID_PRODUCER_EPOCH");
      const end = await client.ends([{ topic, partition: 0 }], "read_uncommitted");
      assert.deepEqual(await client.ends([{ topic, partition: 0 }], "read_committed"), end);
      const unadded = await failure(produce(fresh, topic, ["early"]), "INVALID_TXN_STATE");
      assert.match(unadded.message, /Produce of topic-\d+\/0 at 127\.0\.0\.1:\d+/);
    });

    test("a group's offset is stable or nothing", async () => {
      const topic = await newTopic();
      const group = `group-of-${topic}`;
      assert.equal(await client.groupOffset(group, topic), undefined);
      const producer = await client.initProducer(`id-of-${topic}`, transactionTimeoutMs);
      await client.addGroupOffset(producer, group, topic, { offset: 7, metadata: "token" });
      await failure(client.groupOffset(group, topic), "UNSTABLE_OFFSET_COMMIT");
      await client.endTransaction(producer, "commit");
      const stable = () => retrying(() => client.groupOffset(group, topic), { timeoutMs: 10_000 });
      assert.deepEqual(await stable(), { offset: 7, metadata: "token" });

      const next = await client.initProducer(producer.transactionalId, transactionTimeoutMs);
      await client.addGroupOffset(next, group, topic, { offset: 8, metadata: "other" });
      await client.endTransaction(next, "abort");
      assert.deepEqual(await stable(), { offset: 7, metadata: "token" });
    });

    test("what a broker refuses says what and where, and the way out", async () => {
      const topic = await newTopic(1, { "max.message.bytes": "1000" });
      assert.deepEqual(await client.topicConfiguration(topic, ["max.message.bytes", "no.such"]), {
        "max.message.bytes": "1000",
      });
      const producer = await begin(topic);
      const large = await failure(produce(producer, topic, [randomBytes(2_000).toString("hex")]), "MESSAGE_TOO_LARGE");
      assert.match(large.message, new RegExp(`Produce of ${topic}/0`));
      assert.match(large.wayOut ?? "", /max\.message\.bytes/);
      assert.match(
        (await failure(client.offsets([{ topic: "nowhere", partition: 0 }], "earliest"), "UNKNOWN_TOPIC_OR_PARTITION"))
          .message,
        /nowhere\/0/,
      );
      await failure(client.offsets([{ topic, partition: 1 }], "earliest"), "UNKNOWN_TOPIC_OR_PARTITION");
      await failure(client.topicConfiguration("nowhere", ["max.message.bytes"]), "UNKNOWN_TOPIC_OR_PARTITION");
      await failure(client.initProducer("too-long", 2 ** 31 - 1), "INVALID_TRANSACTION_TIMEOUT");
      await failure(client.topics(["no such name"]), "INVALID_TOPIC_EXCEPTION");
    });

    test("brokers tell their settings, and that they verify transactions", async () => {
      assert.deepEqual(await client.brokerConfiguration(["offsets.retention.minutes"]), {
        "offsets.retention.minutes": "10080",
      });
      assert.equal(await client.verifiesTransactions(), true);
    });

    test("a connection that is reset fails the calls on it; the next one makes another", async () => {
      const topic = await newTopic();
      const waiting = client.fetch({
        topic,
        partition: 0,
        offset: 0,
        isolation: "read_committed",
        maxBytes: 1_000,
        maxWaitMs: 20_000,
      });
      await client.topics([topic]);
      setTimeout(() => kafka.proxy.reset(), 100);
      const error = await failure(waiting, "DISCONNECTED");
      assert.match(error.message, new RegExp(kafka.proxy.address));
      assert.equal((await client.topics([topic])).length, 1);
      assert.deepEqual(await read(topic), []);
    });

    test("a network that is silent fails calls at their deadline", async () => {
      const topic = await newTopic();
      const hasty = createKafkaClient({ brokers: [kafka.proxy.address], clientId: "hasty" }, timeouts);
      await hasty.topics([topic]);
      kafka.proxy.stall();
      try {
        const calls = [
          hasty.topics([topic]),
          hasty.offsets([{ topic, partition: 0 }], "earliest"),
          hasty.initProducer("silent", 1_000),
        ];
        await Promise.all(calls.map((call) => failure(call, "TIMED_OUT")));
      } finally {
        kafka.proxy.resume();
      }
      assert.equal((await hasty.topics([topic])).length, 1);
      await hasty.close();
    });

    test("an answer that gets lost fails its call, though what was asked is done", async () => {
      const topic = await newTopic();
      const producer = await begin(topic);
      await produce(producer, topic, ["once"]);
      kafka.proxy.dropNext();
      await failure(client.endTransaction(producer, "commit"), "DISCONNECTED");
      await oracle.settled(topic);
      assert.deepEqual(await read(topic), ["once"]);
    });

    test("an abort ends a fetch at once, and leaves its connection to others", async () => {
      const topic = await newTopic();
      const abort = new AbortController();
      const request = {
        topic,
        partition: 0,
        offset: 0,
        isolation: "read_committed",
        maxBytes: 1_000,
        maxWaitMs: 500,
      } as const;
      await client.fetch(request);
      const { connections } = kafka.proxy;
      const waiting = client.fetch(request, abort.signal);
      setTimeout(() => abort.abort(new Error("enough")), 50);
      await assert.rejects(waiting, { message: "enough" });
      assert.equal((await client.fetch(request)).highWatermark, 0);
      assert.equal(kafka.proxy.connections, connections);
      await assert.rejects(client.fetch(request, AbortSignal.abort(new Error("before"))), { message: "before" });
    });

    test("whoever waits for records hears of the first, committed or not, of whatever partition", async () => {
      const topic = await newTopic(2);
      const from = [0, 1].map((partition) => ({ topic, partition, offset: 0 }));
      let told = false;
      const waiting = client.awaitRecords(from, 60_000).then(() => {
        told = true;
      });
      assert.deepEqual(await read(topic), []);
      assert.equal(told, false);
      await oracle.producer().then(async (producer) => {
        await producer.send({ topic, partition: 1, value: "first" });
        await producer.close();
      });
      await waiting;
      await client.awaitRecords([{ topic, partition: 1, offset: 1 }], 50);
      await client.awaitRecords([{ topic, partition: 1, offset: 7 }], 60_000);
    });

    test("several partitions are fetched at once, from leaders of the epoch that is said alone", async () => {
      const topic = await newTopic(3);
      const [{ partitions } = assert.fail()] = await client.topics([topic]);
      const positions = partitions.map(({ partition, leaderEpoch }) => ({ topic, partition, offset: 0, leaderEpoch }));
      const limits = { isolation: "read_committed", minBytes: 1, maxBytes: 1000, maxWaitMs: 60_000 } as const;
      const sizes = async (at: typeof positions) =>
        (await client.fetchEach(at, limits)).map((one) => one && Math.sign(one.records.length));
      await oracle.producer().then(async (producer) => {
        for (const partition of [0, 2]) await producer.send({ topic, partition, value: "x".repeat(900) });
        await producer.close();
      });
      assert.deepEqual(await sizes(positions), [1, 0, 1]);
      const ofAnother = { ...positions[2]!, leaderEpoch: positions[2]!.leaderEpoch + 1 };
      assert.deepEqual(await sizes([positions[0]!, ofAnother]), [1, undefined]);
      const started = performance.now();
      await client.fetchEach(positions, { ...limits, minBytes: 100_000, maxWaitMs: 200 });
      assert.ok(performance.now() - started >= 150, "the broker waits for more");
    });

    test("close fails what is under way, and what comes after", async () => {
      const topic = await newTopic();
      const own = createKafkaClient({ brokers: [kafka.proxy.address], clientId: "own" });
      await own.topics([topic]);
      const calls = [
        own.topics([topic]),
        own.initProducer("closing", 1_000),
        own.offsets([{ topic, partition: 0 }], "earliest"),
      ];
      await own.close();
      await Promise.all(calls.map((call) => failure(call, "CLOSED")));
      await failure(own.topics([topic]), "CLOSED");
    });

    test("one broker that answers is enough; where none does, all are named", async () => {
      const nowhere = "127.0.0.1:1";
      const some = createKafkaClient({ brokers: [nowhere, "localhost:2", kafka.proxy.address], clientId: "some" });
      assert.ok((await some.topics(null)).length > 0);
      await some.close();
      const none = createKafkaClient({ brokers: [nowhere, "localhost:2"], clientId: "none" });
      const { message, wayOut } = await failure(none.topics(null), "UNREACHABLE");
      assert.match(message, /127\.0\.0\.1:1 cannot be reached.*localhost:2 cannot be reached/);
      assert.match(wayOut ?? "", /advertised\.listeners/);
      await none.close();
    });

    test("a process ends when it has closed its client, and has printed nothing", async () => {
      const module = import.meta.resolve("../../shared/adapters/kafka/kafkajs.ts");
      const script = `
        const { createKafkaClient } = await import(${JSON.stringify(module)});
        const client = createKafkaClient({ brokers: ["${kafka.proxy.address}"], clientId: "short" });
        await client.topics(null);
        await client.initProducer("short", 1_000);
        const { topic } = (await client.topics(null)).find(({ internal }) => !internal);
        client.fetch({ topic, partition: 0, offset: 0, isolation: "read_committed", maxBytes: 1, maxWaitMs: 60_000 }).catch(() => {});
        client.topics(["nowhere"]).catch(() => {});
        await client.close();`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { timeout: 60_000 });
      const printed: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => printed.push(bytes));
      assert.deepEqual(await once(child, "close"), [0, null]);
      assert.equal(Buffer.concat(printed).toString(), "");
    });

    test("a broker that is restarted is found again", async () => {
      const topic = await newTopic();
      const producer = await begin(topic);
      await produce(producer, topic, ["before"]);
      await kafka.broker.kill();
      const down = await failure(client.topics([topic]), "DISCONNECTED").catch(() =>
        failure(client.topics([topic]), "UNREACHABLE"),
      );
      assert.match(down.message, new RegExp(kafka.proxy.address));
      const restarted = kafka.broker.restart();
      const patient = { timeoutMs: 60_000 };
      await retrying(() => client.endTransaction(producer, "commit"), patient);
      await restarted;
      await oracle.settled(topic);
      assert.deepEqual(await retrying(() => read(topic), patient), ["before"]);
    });
  });
}
