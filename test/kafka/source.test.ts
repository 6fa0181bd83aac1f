import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { createKafkaSource } from "../../shared/adapters/kafka/source/source.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { type SourceUnderTest, sourceConformance } from "../../shared/testing/source-conformance.ts";
import { type KafkaBroker, kafkaVersions, startKafka } from "../support/kafka/broker.ts";
import { type Oracle, type OracleProducer, startOracle } from "../support/kafka/oracle.ts";
import { aBroker, needing } from "../support/needing.ts";

const { after, before, suite } = await needing(aBroker);

/** Topics whose names begin alike, of one partition each. */
interface Topics extends SourceUnderTest {
  deleteTopic(partition: string): Promise<void>;
  deleteRecords(partition: string, before: number): Promise<void>;
}

/** So many records the oracle is given at once. */
const sendAtOnce = 5000;

for (const version of kafkaVersions) {
  let broker: KafkaBroker;
  let oracle: Oracle;
  let producer: OracleProducer;
  before(async () => {
    broker = await startKafka({ version });
    oracle = await startOracle(broker.bootstrap, { version });
    producer = await oracle.producer();
  });
  after(async () => {
    await oracle.close();
    await broker.stop();
  });

  let inputs = 0;
  const make = async (): Promise<Topics> => {
    const prefix = `input-${inputs++}`;
    const client = createKafkaClient({ brokers: [broker.bootstrap], clientId: "test" });
    const made = new Set<string>();
    const topicOf = (partition: string) => `${prefix}.${partition}`;
    return {
      open: () =>
        createKafkaSource(
          { topics: new RegExp(`${prefix}\\..*`), startFrom: "earliest", isolation: "read_committed" },
          client,
          { bounded: false, clock: systemClock },
        ),
      async append(partition, values) {
        const topic = topicOf(partition);
        if (!made.has(topic)) await oracle.createTopic(topic, 1);
        made.add(topic);
        for (let at = 0; at < values.length; at += sendAtOnce)
          await producer.send(...values.slice(at, at + sendAtOnce).map((value) => ({ topic, value })));
      },
      async deleteTopic(partition) {
        await oracle.deleteTopic(topicOf(partition));
        made.delete(topicOf(partition));
      },
      deleteRecords: (partition, offset) => oracle.deleteRecords(topicOf(partition), 0, offset),
      close: () => client.close(),
    };
  };

  suite(`Kafka ${version}`, () =>
    sourceConformance(`Kafka ${version}`, make, {
      "old records are deleted": (input, partition) => input.deleteRecords(partition, 70),
      "all records are deleted": (input, partition) => input.deleteRecords(partition, -1),
      "the topic is deleted": (input, partition) => input.deleteTopic(partition),
      "the topic is deleted and made anew": async (input, partition) => {
        await input.deleteTopic(partition);
        await input.append(
          partition,
          Array.from({ length: 200 }, (_, n) => `another ${n}`),
        );
      },
    }));
}
