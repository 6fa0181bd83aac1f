import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { test } = await needing(aBroker);

for (const version of kafkaVersions) {
  test(`Kafka ${version}: what Java writes Java reads, also after a restart and a kill`, async () => {
    await using broker = await startKafka({ version });
    await using oracle = await startOracle(broker.bootstrap, { version });
    await oracle.createTopic("numbers", 2);
    await using producer = await oracle.producer({ transactionalId: "writer", compression: "gzip" });
    const write = async (value: string, end: "commit" | "abort") => {
      await producer.begin();
      await producer.send({ topic: "numbers", partition: 1, timestamp: 5, key: "k", value, headers: [["h", null]] });
      await producer[end]();
    };
    const values = async (isolation: "read_committed" | "read_uncommitted") =>
      (await oracle.read("numbers", { isolation })).map(({ value }) => String(value));

    await write("one", "commit");
    await write("two", "abort");
    await producer.begin();
    await producer.send({ topic: "numbers", partition: 1, value: "open" });
    const [record, ...others] = await oracle.read("numbers");
    const expected = { partition: 1, offset: 0, timestamp: 5, headers: [["h", null]] };
    assert.deepEqual(
      { ...record, key: String(record?.key), value: String(record?.value) },
      { ...expected, key: "k", value: "one" },
    );
    assert.deepEqual(others, []);
    assert.deepEqual(await values("read_uncommitted"), ["one", "two", "open"]);
    assert.deepEqual(await oracle.offsets("numbers", "last-stable"), [0, 4]);
    assert.deepEqual(await oracle.offsets("numbers", "high-watermark"), [0, 5]);
    await producer.abort();

    const { pid } = broker;
    await broker.restart();
    assert.notEqual(broker.pid, pid);
    await write("three", "commit");
    await oracle.settled("numbers");
    await broker.kill();
    await broker.restart({ "message.max.bytes": 1000 });
    assert.deepEqual(await values("read_committed"), ["one", "three"]);
    await assert.rejects(write(randomBytes(2000).toString("hex"), "commit"), { name: "RecordTooLargeException" });
    await producer.abort();
  });
}

test("other programs' doings: partitions added, records deleted, topics deleted", async () => {
  await using broker = await startKafka();
  await using oracle = await startOracle(broker.bootstrap);
  await oracle.createTopic("t", 1, { "segment.bytes": "1048576" });
  await assert.rejects(oracle.createTopic("t", 1), { name: "TopicExistsException" });
  await using producer = await oracle.producer();
  await producer.send(...["a", "b", "c"].map((value) => ({ topic: "t", partition: 0, value })));
  await oracle.addPartitions("t", 3);
  await oracle.deleteRecords("t", 0, 2);
  assert.deepEqual(await oracle.offsets("t", "earliest"), [2, 0, 0]);
  assert.deepEqual(
    (await oracle.read("t")).map(({ offset }) => offset),
    [2],
  );
  await oracle.deleteTopic("t");
  await assert.rejects(oracle.offsets("t", "earliest"), { name: "UnknownTopicOrPartitionException" });
  // Kafka's own documentation has no such figure: it is the murmur2 of the Java client, masked, modulo.
  assert.equal(await oracle.partitionFor(Buffer.from("hello"), 10), 9);
});

test("a listener with SASL, and a user that the format made", async () => {
  await using broker = await startKafka({
    listeners: { SECURE: "SASL_PLAINTEXT" },
    settings: {
      "sasl.enabled.mechanisms": "SCRAM-SHA-256",
      "listener.name.secure.scram-sha-256.sasl.jaas.config":
        "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    },
    format: ["--add-scram", "SCRAM-SHA-256=[name=someone,password=right]"],
  });
  const login = (password: string) => ({
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.jaas.config": `org.apache.kafka.common.security.scram.ScramLoginModule required username="someone" password="${password}";`,
  });
  await using welcome = await startOracle(broker.addresses.SECURE!, { properties: login("right") });
  await welcome.createTopic("secrets", 1);
  await using stranger = await startOracle(broker.addresses.SECURE!, { properties: login("wrong") });
  await assert.rejects(stranger.deleteTopic("secrets"), { name: "SaslAuthenticationException" });
});

test("a broker that cannot start says why, and leaves nothing behind", async () => {
  await assert.rejects(startKafka({ settings: { "log.retention.ms": "soon" } }), /Kafka .* start.*soon/s);
});

test("a broker ends with the process that started it, even when that is killed", async () => {
  const script = `
    const { startKafka } = await import(${JSON.stringify(new URL("../support/kafka/broker.ts", import.meta.url))});
    const { pid, bootstrap } = await startKafka();
    console.log(JSON.stringify({ pid, bootstrap }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { bootstrap } = JSON.parse(line) as { bootstrap: string };
  assert.equal(await answers(bootstrap), true);
  child.kill("SIGKILL");
  await until("the broker has ended", async () => !(await answers(bootstrap)));
});

function answers(address: string): Promise<boolean> {
  const [host, port] = address.split(":");
  return new Promise((resolve) => {
    const socket = connect(Number(port), host!, () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
