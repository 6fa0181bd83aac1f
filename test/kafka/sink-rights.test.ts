import assert from "node:assert/strict";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import { folderOf } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { once } from "../support/kafka/lane.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { realLane } from "../support/kafka/real-lane.ts";
import { aBroker, needing } from "../support/needing.ts";

const { describe, test } = await needing(aBroker);

const password = "a-s3cret";
const plain = "org.apache.kafka.common.security.plain.PlainLoginModule";

describe("a sink whose user lacks a right", () => {
  for (const version of kafkaVersions)
    test(`says so, and goes on by itself when it is granted, on Kafka ${version}`, async (context) => {
      const granted = { "super.users": "User:ANONYMOUS;User:bob" };
      const revoked = { "super.users": "User:ANONYMOUS" };
      await using broker = await startKafka({
        version,
        listeners: { SASL: "SASL_PLAINTEXT" },
        settings: {
          "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
          "listener.name.sasl.plain.sasl.jaas.config": `${plain} required user_bob="${password}";`,
          "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
          ...revoked,
        },
      });
      await using oracle = await startOracle(broker.bootstrap, { version });
      await oracle.createTopic("out", 2);
      const client = createKafkaClient({
        brokers: [broker.addresses.SASL!],
        clientId: "test",
        sasl: { mechanism: "plain", username: async () => "bob", password: async () => password },
      });
      const lane = realLane({ topic: "out", folder: folderOf(context) }, client);
      const refused = (done: Promise<unknown>) =>
        assert.rejects(done, (error) => {
          assert.ok(error instanceof InfrastructureError);
          assert.match(error.code, /^kafka-.*authorization-failed$/);
          assert.match(error.wayOut ?? "", /Grant the user/);
          return true;
        });
      await refused(lane.decide(1));
      await broker.restart(granted);
      await lane.decide(1);
      await lane.process().commit(1);
      lane.settle(1);
      await lane.decide(2);
      await broker.restart(revoked);
      await refused(lane.process().commit(2));
      await broker.restart(granted);
      await lane.process().commit(2);
      await oracle.settled("out");
      const numbers = (await oracle.read("out")).map(({ value }) => JSON.parse(value!.toString()).n);
      assert.deepEqual(numbers.sort(), once(1, 2).flat().sort());
      await client.close();
    });
});
