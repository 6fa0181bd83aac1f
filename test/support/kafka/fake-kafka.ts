/** A cluster in memory, as far as sinks use one, which refuses what brokers refuse; and what may go wrong between it and its client. */
import { setImmediate as turn } from "node:timers/promises";
import type {
  GroupOffset,
  IdempotentProducer,
  KafkaClient,
  ProduceRequest,
  ProducerIdentity,
  TopicPartition,
} from "../../../shared/adapters/kafka/client.ts";
import { KafkaError } from "../../../shared/adapters/kafka/errors.ts";
import { crc32c } from "../../../shared/adapters/kafka/record-batch/crc32c.ts";
import { type PlainRecord, readBatches } from "./plain-batch.ts";

interface FakeTransaction {
  outcome: "open" | "committed" | "aborted";
  /** Its markers are not all written yet. */
  isSettled: boolean;
  readonly partitions: Map<string, "added" | "verifying" | "verified">;
  readonly offsets: Map<string, GroupOffset>;
}
/** Of records that are in none. */
const alone: FakeTransaction = { outcome: "committed", isSettled: true, partitions: new Map(), offsets: new Map() };

interface FakeProducer {
  readonly producerId: bigint;
  producerEpoch: number;
  transaction: FakeTransaction | undefined;
  sequences: Map<string, number>;
}
interface FakeTopic {
  readonly id: string;
  readonly configuration: Record<string, string>;
  partitions: number;
}

/** What a call does; `run` is the call itself. Injects errors before or after it, or never lets it happen. */
export type Interference = (method: keyof KafkaClient, run: () => Promise<unknown>) => Promise<unknown>;

const partitionName = ({ topic, partition }: TopicPartition) => `${topic}/${partition}`;

function refuse(broker: string): never {
  throw new KafkaError(broker, `the broker answers ${broker}`);
}

export class FakeKafka {
  readonly topics = new Map<string, FakeTopic>();
  readonly #producers = new Map<string, FakeProducer>();
  readonly #logs = new Map<string, { transaction: FakeTransaction; records: readonly PlainRecord[] }[]>();
  readonly #offsets = new Map<string, GroupOffset>();
  readonly brokers: Record<string, string> = {
    "offsets.retention.minutes": "10080",
    "transaction.max.timeout.ms": "900000",
  };
  verifies = true;
  /** Most produce calls that were under way at once, and how many there were. */
  mostInFlight = 0;
  produceCalls = 0;
  #inFlight = 0;
  #ids = 0;

  createTopic(topic: string, partitions = 3, configuration: Record<string, string> = {}): void {
    this.topics.set(topic, {
      id: `id-${this.#ids++}`,
      partitions,
      configuration: { "max.message.bytes": "1048588", ...configuration },
    });
  }

  /** A topic's offsets of groups go with it. */
  deleteTopic(topic: string): void {
    this.topics.delete(topic);
    for (const name of [...this.#logs.keys()]) if (name.startsWith(`${topic}/`)) this.#logs.delete(name);
    for (const name of [...this.#offsets.keys()]) if (name.endsWith(` ${topic}`)) this.#offsets.delete(name);
  }

  /** Records of committed transactions, by partition, in order. */
  read(topic: string): PlainRecord[][] {
    const { partitions } = this.topics.get(topic)!;
    return Array.from({ length: partitions }, (_, partition) =>
      (this.#logs.get(`${topic}/${partition}`) ?? [])
        .filter(({ transaction }) => transaction.outcome === "committed")
        .flatMap(({ records }) => records),
    );
  }

  offset(group: string, topic: string): GroupOffset | undefined {
    return this.#offsets.get(`${group} ${topic}`);
  }

  setOffset(group: string, topic: string, offset: GroupOffset | undefined): void {
    if (offset === undefined) this.#offsets.delete(`${group} ${topic}`);
    else this.#offsets.set(`${group} ${topic}`, offset);
  }

  /** Transactions that hold readers up. */
  get open(): number {
    return [...this.#producers.values()].filter(({ transaction }) => transaction?.outcome === "open").length;
  }

  /** What the coordinator does when a transaction takes too long. */
  timeOutTransactions(): void {
    for (const producer of this.#producers.values())
      if (producer.transaction?.outcome === "open") {
        producer.producerEpoch++;
        this.#end(producer.transaction, "aborted");
      }
  }

  client(interfere: Interference = (_, run) => run()): KafkaClient {
    const call = <T>(method: keyof KafkaClient, run: () => Promise<T> | T) =>
      interfere(method, async () => {
        await turn();
        return await run();
      }) as Promise<T>;
    const unused = () => Promise.reject(new Error("not a matter of sinks"));
    return {
      topics: (names) => call("topics", () => this.#describe(names)),
      topicConfiguration: (topic) =>
        call("topicConfiguration", () => this.topics.get(topic)?.configuration ?? refuse("UNKNOWN_TOPIC_OR_PARTITION")),
      brokerConfiguration: () => call("brokerConfiguration", () => this.brokers),
      verifiesTransactions: () => call("verifiesTransactions", () => this.verifies),
      idempotentProducer: () => call("idempotentProducer", () => this.#begin()),
      initProducer: (id) => call("initProducer", () => this.#init(id)),
      addPartitions: (producer, partitions) => call("addPartitions", () => this.#addPartitions(producer, partitions)),
      produce: (producer, batches) => call("produce", () => this.#produce(producer, batches)),
      addGroupOffset: (producer, group, topic, offset) =>
        call("addGroupOffset", () => this.#addOffset(producer, group, topic, offset)),
      endTransaction: (producer, outcome) => call("endTransaction", () => this.#endTransaction(producer, outcome)),
      groupOffset: (group, topic) => call("groupOffset", () => this.#groupOffset(group, topic)),
      offsets: unused,
      ends: unused,
      openTransactions: unused,
      endOfLeaderEpoch: unused,
      fetch: unused,
      fetchEach: unused,
      release: () => {},
      awaitRecords: unused,
      close: async () => {},
    };
  }

  #describe(names: readonly string[] | null) {
    return [...this.topics]
      .filter(([topic]) => names?.includes(topic) !== false)
      .map(([topic, { id, partitions }]) => ({
        topic,
        id,
        internal: topic.startsWith("__"),
        partitions: Array.from({ length: partitions }, (_, partition) => ({ partition, leader: 1, leaderEpoch: 0 })),
      }));
  }

  async #init(transactionalId: string): Promise<ProducerIdentity> {
    const made = { producerId: BigInt(this.#producers.size), producerEpoch: -1, transaction: undefined };
    const producer = this.#producers.get(transactionalId) ?? { ...made, sequences: new Map() };
    this.#producers.set(transactionalId, producer);
    if (producer.transaction?.outcome === "open") {
      producer.producerEpoch++;
      this.#end(producer.transaction, "aborted");
    }
    while (producer.transaction?.isSettled === false) await turn();
    producer.transaction = undefined;
    producer.producerEpoch++;
    producer.sequences = new Map();
    const { producerId, producerEpoch } = producer;
    return { transactionalId, producerId, producerEpoch };
  }

  /** One without transactions, known by its id alone. */
  async #begin(): Promise<IdempotentProducer> {
    const { transactionalId: _, ...identity } = await this.#init(`direct ${this.#producers.size}`);
    return identity;
  }

  #checked({ transactionalId, producerEpoch }: ProducerIdentity): FakeProducer {
    const producer = this.#producers.get(transactionalId);
    return producer?.producerEpoch === producerEpoch ? producer : refuse("INVALID_PRODUCER_EPOCH");
  }

  /** The open transaction; begun if there is none. */
  #transaction(producer: FakeProducer): FakeTransaction {
    const { transaction } = producer;
    if (transaction?.outcome === "open") return transaction;
    if (transaction?.isSettled === false) return refuse("CONCURRENT_TRANSACTIONS");
    producer.transaction = { outcome: "open", isSettled: false, partitions: new Map(), offsets: new Map() };
    return producer.transaction;
  }

  #addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): void {
    const producer = this.#checked(identity);
    for (const { topic, partition } of partitions)
      if (partition >= (this.topics.get(topic)?.partitions ?? 0)) refuse("UNKNOWN_TOPIC_OR_PARTITION");
    const { partitions: added } = this.#transaction(producer);
    for (const one of partitions) if (!added.has(partitionName(one))) added.set(partitionName(one), "added");
  }

  async #produce(identity: ProducerIdentity | IdempotentProducer, batches: readonly ProduceRequest[]): Promise<void> {
    this.produceCalls++;
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
    try {
      const names = batches.map(partitionName);
      if (new Set(names).size < names.length) refuse("INVALID_REQUEST");
      await Promise.all(
        batches.map((one) =>
          "transactionalId" in identity ? this.#append(identity, one) : this.#appendDirectly(identity, one),
        ),
      );
    } finally {
      this.#inFlight--;
    }
  }

  #readBatch({ topic, partition, batch }: ProduceRequest) {
    const { configuration, partitions = 0 } = this.topics.get(topic) ?? {};
    if (partition >= partitions) refuse("UNKNOWN_TOPIC_OR_PARTITION");
    const [read, ...others] = readBatches(batch);
    if (read === undefined || others.length > 0 || read.bytes.length !== batch.length) return refuse("INVALID_RECORD");
    if (read.crc !== crc32c(batch, 21)) refuse("CORRUPT_MESSAGE");
    if (batch.length > Number(configuration?.["max.message.bytes"])) refuse("MESSAGE_TOO_LARGE");
    return read;
  }

  async #appendDirectly(identity: IdempotentProducer, request: ProduceRequest): Promise<void> {
    const name = partitionName(request);
    const read = this.#readBatch(request);
    await turn();
    const producer = [...this.#producers.values()].find(({ producerId }) => producerId === identity.producerId)!;
    const expected = producer.sequences.get(name) ?? 0;
    // A repetition, whose first answer was lost.
    if (read.sequence < expected) return;
    if (read.sequence > expected) refuse("OUT_OF_ORDER_SEQUENCE_NUMBER");
    producer.sequences.set(name, (expected + read.records.length) % 2 ** 31);
    this.#logs.set(name, [...(this.#logs.get(name) ?? []), { transaction: alone, records: read.records }]);
  }

  async #append(identity: ProducerIdentity, request: ProduceRequest): Promise<void> {
    const name = partitionName(request);
    const read = this.#readBatch(request);
    const transaction = this.#checked(identity).transaction;
    if (!transaction?.partitions.has(name)) return refuse("INVALID_TXN_STATE");
    if (transaction.partitions.get(name) === "added") {
      transaction.partitions.set(name, "verifying");
      await turn();
    }
    await turn();
    const producer = this.#checked(identity);
    if (transaction.outcome !== "open") refuse("INVALID_TXN_STATE");
    const expected = producer.sequences.get(name) ?? 0;
    if (read.sequence !== expected) refuse("OUT_OF_ORDER_SEQUENCE_NUMBER");
    producer.sequences.set(name, (expected + read.records.length) % 2 ** 31);
    this.#logs.set(name, [...(this.#logs.get(name) ?? []), { transaction, records: read.records }]);
  }

  #addOffset(identity: ProducerIdentity, group: string, topic: string, offset: GroupOffset): void {
    const producer = this.#checked(identity);
    if (!this.topics.has(topic)) refuse("UNKNOWN_TOPIC_OR_PARTITION");
    this.#transaction(producer).offsets.set(`${group} ${topic}`, offset);
  }

  #endTransaction(identity: ProducerIdentity, outcome: "commit" | "abort"): void {
    const { transaction } = this.#checked(identity);
    const wanted = outcome === "commit" ? "committed" : "aborted";
    if (transaction?.outcome === "open") this.#end(transaction, wanted);
    else if (transaction?.outcome !== wanted) refuse("INVALID_TXN_STATE");
  }

  #end(transaction: FakeTransaction, outcome: "committed" | "aborted"): void {
    transaction.outcome = outcome;
    setImmediate(() => {
      if (outcome === "committed") for (const [key, offset] of transaction.offsets) this.#offsets.set(key, offset);
      transaction.isSettled = true;
    });
  }

  #groupOffset(group: string, topic: string): GroupOffset | undefined {
    const key = `${group} ${topic}`;
    for (const { transaction } of this.#producers.values())
      if (transaction?.isSettled === false && transaction.offsets.has(key)) refuse("UNSTABLE_OFFSET_COMMIT");
    return this.#offsets.get(key);
  }
}
