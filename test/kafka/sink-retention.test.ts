import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { folderOf } from "../support/folder.ts";
import { kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { group, once } from "../support/kafka/lane.ts";
import { startOracle } from "../support/kafka/oracle.ts";
import { realLane } from "../support/kafka/real-lane.ts";
import { aBroker, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { describe, test } = await needing(aBroker);

// Brokers count the retention of offsets in whole minutes.
describe("a lane that was idle for longer than brokers keep its marker", { concurrency: true }, () => {
  for (const version of kafkaVersions)
    test(`goes on by itself on Kafka ${version}, but not with an epoch that may be there already`, async (context) => {
      await using broker = await startKafka({
        version,
        settings: { "offsets.retention.minutes": 1, "offsets.retention.check.interval.ms": 500 },
      });
      await using oracle = await startOracle(broker.bootstrap, { version });
      const client = createKafkaClient({ brokers: [broker.bootstrap], clientId: "test" });
      const lanes = [];
      for (const topic of ["idle", "late"]) {
        await oracle.createTopic(topic, 2);
        await until("the topic is known", async () => (await client.topics([topic])).length > 0);
        const lane = realLane({ topic, folder: folderOf(context), transactionTimeoutMs: 8000 }, client);
        await lane.decide(1);
        await lane.process().commit(1);
        lane.settle(1);
        lanes.push(lane);
      }
      const [idle, late] = lanes as [(typeof lanes)[0], (typeof lanes)[0]];
      await late.decide(2);
      await sleep(60_000);
      for (const topic of ["idle", "late"])
        await until("the marker has expired", async () => (await client.groupOffset(group, topic)) === undefined);
      await idle.decide(2);
      await idle.process().commit(2);
      await assert.rejects(late.process().commit(2), { code: "kafka-unknown-marker", message: /is absent, not 1$/ });
      for (const topic of ["idle", "late"]) {
        await oracle.settled(topic);
        const numbers = (await oracle.read(topic)).map(({ value }) => JSON.parse(value!.toString()).n as number);
        const expected = once(...(topic === "idle" ? [1, 2] : [1])).flat();
        assert.deepEqual(numbers.sort(), expected.sort());
      }
      await client.close();
    });
});
