/** `epochflow check` against real brokers: what is wrong with topics, brokers and rights, all at once, and nothing is left behind. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkSinkRights } from "../../shared/adapters/kafka/check/rights.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { startCli } from "../support/cli.ts";
import { temporaryFolder } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";

const { describe, it } = await needing(aBroker);

const password = "s3cret-of-bob";
const plain = "org.apache.kafka.common.security.plain.PlainLoginModule";
const security = {
  "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
  "listener.name.sasl.plain.sasl.jaas.config": `${plain} required user_bob="${password}";`,
  "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
};
const granted = { "super.users": "User:ANONYMOUS;User:bob" };
const revoked = { "super.users": "User:ANONYMOUS" };

const module = `
  import { environment, json, kafka, parameter, pipeline, text } from "epochflow";
  const sasl = process.env.SASL_PASSWORD && { mechanism: "plain", username: "bob", password: environment("SASL_PASSWORD") };
  const connection = kafka.connection({ brokers: parameter("brokers"), ...(sasl && { sasl }) });
  const stream = pipeline("copy")
    .from(kafka.source({ topic: parameter("input"), value: json(), connection }))
    .map((value) => ({ value }), { id: "wrap" });
  stream.to(kafka.sink({ topic: parameter("first"), value: json(), connection }), { id: "first" });
  export default stream.to(kafka.sink({ topic: parameter("second"), key: () => "k", value: json(), connection }), { id: "second" });`;

interface Found {
  readonly topic: string;
  readonly findings: readonly { level: string; code: string; message: string; wayOut?: string; place?: object }[];
}

for (const version of kafkaVersions) {
  describe(`check on Kafka ${version}`, () => {
    it("tells all that is wrong, and nothing where nothing is; and leaves nothing behind", async () => {
      await using broker = await startKafka({
        version,
        listeners: { SASL: "SASL_PLAINTEXT" },
        settings: { ...security, ...granted },
      });
      await using oracle = await startOracle(broker.bootstrap, { version });
      using folder = temporaryFolder();
      writeFileSync(join(folder.path, "copy.ts"), module);
      await oracle.createTopic("input", 3);
      await oracle.createTopic("output", 2);
      await oracle.createTopic("compacted", 1, { "cleanup.policy": "compact", "max.message.bytes": "50000" });
      await oracle.createTopic("strict", 1, { "message.timestamp.before.max.ms": "3600000" });
      await oracle.createTopic("brief", 1, { "retention.ms": "7200000" });
      const dayAgo = Date.now() - 86_400_000;
      {
        await using producer = await oracle.producer();
        const partition = 0;
        await producer.send(
          { topic: "input", partition, value: "1" },
          { topic: "input", partition, value: "no json", timestamp: dayAgo },
        );
        await producer.send({ topic: "brief", partition, value: "1", timestamp: Date.now() - 5_400_000 });
      }
      const check = async (brokers: string, env: Record<string, string>, ...topics: string[]) => {
        const names = ["input", "first", "second"];
        const set = names.flatMap((name, index) => (topics[index] ? ["--set", `${name}=${topics[index]}`] : []));
        const args = ["check", "copy.ts", "--set", `brokers=${brokers}`, ...set, "--json"];
        const { stdout, stderr, code } = await startCli(args, { cwd: folder.path, env }).finished;
        assert.notEqual(stdout, "", stderr);
        assert.ok(!(stdout + stderr).includes(password));
        const found = (JSON.parse(stdout).topics as Found[]).flatMap(({ findings }) => findings);
        return {
          code,
          found,
          codes: found
            .filter(({ level }) => level === "error")
            .map((one) => one.code)
            .sort(),
        };
      };
      const open = (...topics: string[]) => check(broker.bootstrap, {}, ...topics);

      const fine = await open("output", "input", "strict");
      assert.deepEqual([fine.code, fine.codes], [0, []]);
      assert.ok(
        fine.found.every(({ code }) => code === "one-replica"),
        JSON.stringify(fine.found),
      );

      const wrong = await open("input", "compacted", "strict");
      assert.equal(wrong.code, 1);
      assert.deepEqual(wrong.codes, ["rows-too-old", "sample-failed", "topic-compacted"]);
      assert.ok(wrong.found.some(({ code }) => code === "small-messages"));
      assert.ok(
        wrong.found.every(({ wayOut }) => wayOut),
        JSON.stringify(wrong.found),
      );

      const missing = await open("nowhere", "neither", "output");
      assert.deepEqual(missing.codes, ["kafka-topic-missing", "kafka-topic-missing"]);
      assert.deepEqual((await open("input", "input", "output")).codes, ["output-is-input", "sample-failed"]);
      const brief = await open("brief", "output", "output");
      assert.ok(
        brief.found.some(({ code, message }) => code === "retention-near" && /1\.5 h old/.test(message)),
        JSON.stringify(brief.found),
      );

      const lacking = await check("127.0.0.1:1", {});
      assert.deepEqual(lacking.codes, [
        "kafka-unreachable",
        "missing-parameter",
        "missing-parameter",
        "missing-parameter",
      ]);

      const bob = (secret: string) =>
        check(broker.addresses.SASL!, { SASL_PASSWORD: secret }, "input", "output", "output");
      assert.deepEqual((await bob(password)).codes, ["sample-failed"]);
      assert.deepEqual((await bob("wrong")).codes, ["kafka-authentication-failed"]);

      const sasl = { mechanism: "plain", username: async () => "bob", password: async () => password } as const;
      const client = createKafkaClient({ brokers: [broker.addresses.SASL!], clientId: "test", sasl });
      const id = "epochflow.copy.check.first.0";
      assert.deepEqual(await checkSinkRights(client, id, ["output", "strict"]), []);
      assert.equal(await client.groupOffset(id, "output"), undefined);
      for (const topic of ["output", "strict"])
        assert.ok(
          (await oracle.offsets(topic, "high-watermark")).every((offset) => offset === 0),
          topic,
        );
      await broker.restart(revoked);
      const denied = await checkSinkRights(client, id, ["output"]);
      assert.ok(
        denied.some(({ error }) => /authorization-failed/.test(error.code)),
        JSON.stringify(denied),
      );
      const without = await bob(password);
      assert.ok(
        without.codes.length >= 2 && without.codes.every((code) => /authorization-failed/.test(code)),
        without.codes.join(),
      );
      await client.close();
    });
  });
}
