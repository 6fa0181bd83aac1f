import type { KafkaClient } from "../../shared/adapters/kafka/client.ts";
import { createKafkaClient } from "../../shared/adapters/kafka/kafkajs.ts";
import { recordsIn, splitBatches, stampBatch } from "../../shared/adapters/kafka/record-batch/encode.ts";
import { retrying } from "../../shared/adapters/kafka/retrying.ts";
import { type KafkaBroker, startKafka } from "../support/kafka/broker.ts";
import { type Oracle, startOracle } from "../support/kafka/oracle.ts";
import { fetchesOf, type Records } from "./parts/word-count.ts";

/** A broker of its own, with topics of lines and of what comes of them. Its reader is Kafka's own, read_committed. */
export class Topics implements AsyncDisposable {
  readonly #broker: KafkaBroker;
  readonly #oracle: Oracle;
  readonly #client: KafkaClient;

  private constructor(broker: KafkaBroker, oracle: Oracle) {
    this.#broker = broker;
    this.#oracle = oracle;
    this.#client = createKafkaClient({ brokers: [broker.bootstrap], clientId: "bench" });
  }

  /** @throws Error that says what is missing on this machine */
  static async start(): Promise<Topics> {
    // Quick rather than small, as for the peers.
    const broker = await startKafka({ jvm: ["-Xms1g", "-Xmx1g"] });
    return new Topics(broker, await startOracle(broker.bootstrap, { heapMiB: 2048 }));
  }

  get bootstrap(): string {
    return this.#broker.bootstrap;
  }

  async create(topic: string, partitions: number): Promise<void> {
    await this.#oracle.createTopic(topic, partitions);
  }

  /** Makes a topic of these records, their batches dealt out among its partitions. */
  async load(topic: string, partitions: number, records: Records): Promise<void> {
    await this.create(topic, partitions);
    // A broker that has just started may not give ids yet.
    const producer = await retrying(() => this.#client.idempotentProducer(), { timeoutMs: 60_000 });
    const sequences = Array.from({ length: partitions }, () => 0);
    const batches = fetchesOf(records).flatMap((fetch) => splitBatches(fetch)!);
    for (let from = 0; from < batches.length; from += partitions) {
      const round = batches.slice(from, from + partitions).map(({ batch }, partition) => {
        batch.writeBigInt64BE(0n, 0);
        stampBatch(batch, producer, sequences[partition]!);
        sequences[partition]! += recordsIn(batch);
        return { topic, partition, batch };
      });
      await this.#client.produce(producer, round);
    }
  }

  /** Values of all committed records, as JSON. */
  async read<Row>(topic: string): Promise<Row[]> {
    const rows: Row[] = [];
    // One at a time, since there may be millions.
    for (const partition of (await this.#oracle.offsets(topic, "earliest")).keys())
      for (const { value } of await this.#oracle.read(topic, { partition })) rows.push(JSON.parse(String(value)));
    return rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    await this.#oracle.close();
    await this.#broker.stop();
  }
}
