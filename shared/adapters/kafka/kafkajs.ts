import { brokerError } from "./broker-errors.ts";
import type {
  Fetched,
  FetchLimits,
  FetchRequest,
  GroupOffset,
  IdempotentProducer,
  Isolation,
  KafkaClient,
  LogEnd,
  OpenTransaction,
  Position,
  ProduceRequest,
  ProducerIdentity,
  TopicMetadata,
  TopicPartition,
} from "./client.ts";
import type { KafkaConnection } from "./connection/connection.ts";
import { isKafkaError } from "./errors.ts";
import type { Answer, ApiRequest } from "./protocol/api-request.ts";
import { Cluster, type Timeouts } from "./protocol/cluster.ts";
import { openTransactions } from "./protocol/open-transactions.ts";
import { describeConfigs, type Resource } from "./protocol/requests/configuration.ts";
import { fetch } from "./protocol/requests/fetch.ts";
import { stableGroupOffset } from "./protocol/requests/group-offset.ts";
import { earliest, latest, listOffsets, offsetForLeaderEpoch } from "./protocol/requests/offsets.ts";
import { produce } from "./protocol/requests/produce.ts";
import {
  addOffsetsToTransaction,
  addPartitionsToTransaction,
  endTransaction,
  initProducerId,
  transactionalOffsetCommit,
} from "./protocol/requests/transactions.ts";
import { askCoordinator, askLeaders } from "./protocol/routing.ts";
import { retrying } from "./retrying.ts";

const defaultTimeouts: Timeouts = { connectMs: 10_000, callMs: 30_000 };

/** A Kafka cluster; no connection is made before the first call. */
export function createKafkaClient(to: KafkaConnection, timeouts: Partial<Timeouts> = {}): KafkaClient {
  return new KafkajsClient(to, { ...defaultTimeouts, ...timeouts });
}

/** Fetches wait for data, and answers are large: they hold up nothing else. */
const fetchLane = "fetch";
const watchLane = "watch";
const eachLane = "fetch each";
const controlLane = "control";
const directLane = "direct";
/** Of transactions, where there are none; brokers want a number. */
const noTimeout = 60_000;
/** How often a new producer asks whether the transaction of the one before is over. */
const longestInitPauseMs = 200;

class KafkajsClient implements KafkaClient {
  readonly #cluster: Cluster;

  constructor(to: KafkaConnection, timeouts: Timeouts) {
    this.#cluster = new Cluster(to, timeouts);
  }

  async topics(names: readonly string[] | null): Promise<TopicMetadata[]> {
    const { topics } = await this.#cluster.metadata(names, this.#cluster.deadline());
    return topics
      .filter(({ code }) => code !== unknownTopic)
      .map(({ code, ...topic }) => {
        if (code !== 0) throw brokerError(code, `Metadata of ${topic.topic}`);
        return topic;
      });
  }

  async offsets(
    partitions: readonly TopicPartition[],
    which: "earliest" | { readonly timestamp: number },
  ): Promise<number[]> {
    const timestamp = which === "earliest" ? earliest : which.timestamp;
    return (await this.#listOffsets(partitions, timestamp, "read_uncommitted")).map(({ offset }) => offset);
  }

  ends(partitions: readonly TopicPartition[], isolation: Isolation): Promise<LogEnd[]> {
    return this.#listOffsets(partitions, latest, isolation);
  }

  #listOffsets(partitions: readonly TopicPartition[], timestamp: number, isolation: Isolation): Promise<LogEnd[]> {
    return askLeaders(this.#cluster, partitions, {
      what: "ListOffsets",
      lane: controlLane,
      deadline: this.#cluster.deadline(),
      request: (led) => listOffsets(led, timestamp, isolation),
    });
  }

  openTransactions(partitions: readonly TopicPartition[]): Promise<OpenTransaction[]> {
    return openTransactions(this.#cluster, partitions, this.#cluster.deadline());
  }

  async endOfLeaderEpoch(partition: TopicPartition, leaderEpoch: number): Promise<number> {
    const [end] = await askLeaders(this.#cluster, [partition], {
      what: "OffsetForLeaderEpoch",
      lane: controlLane,
      deadline: this.#cluster.deadline(),
      request: () => offsetForLeaderEpoch(partition, leaderEpoch),
    });
    return end!;
  }

  async fetch(request: FetchRequest, signal?: AbortSignal): Promise<Fetched> {
    const [fetched] = await askLeaders(this.#cluster, [request], {
      what: `Fetch at offset ${request.offset}`,
      lane: fetchLane,
      deadline: this.#cluster.deadline(signal, request.maxWaitMs),
      request: (led) => fetch(led, request),
    });
    return this.#lent(fetched!);
  }

  release({ records }: Fetched): void {
    this.#cluster.memory.giveBack(records);
  }

  async fetchEach(
    positions: readonly (Position & { readonly leaderEpoch: number })[],
    limits: FetchLimits,
    signal?: AbortSignal,
  ): Promise<(Fetched | undefined)[]> {
    const deadline = this.#cluster.deadline(signal, limits.maxWaitMs);
    const found = new Map<Position, Fetched>();
    const asked = [...(await this.#cluster.byLeader(positions, deadline))].map(async ([node, led]) => {
      const connection = await this.#cluster.connection(node, deadline, eachLane);
      const answers = await connection.send(fetch(led, limits), deadline);
      for (const [index, { code, value }] of answers.entries())
        if (code === 0) found.set(led[index]!, this.#lent(value));
    });
    await Promise.all(asked);
    return positions.map((one) => found.get(one));
  }

  #lent(fetched: Fetched): Fetched {
    this.#cluster.memory.lend(fetched.records);
    return fetched;
  }

  async awaitRecords(positions: readonly Position[], maxWaitMs: number, signal?: AbortSignal): Promise<void> {
    const deadline = this.#cluster.deadline(signal, maxWaitMs);
    const byLeader = await this.#cluster.byLeader(positions, deadline);
    const waiting = [...byLeader].map(async ([node, led]) => {
      const connection = await this.#cluster.connection(node, deadline, watchLane);
      const request = fetch(led, { isolation: "read_uncommitted", maxBytes: 1, maxWaitMs });
      const answers = await connection.send(request, deadline);
      // A whole batch comes of each, however little is asked for.
      const found = answers.map(({ value }) => this.#lent(value));
      for (const each of found) this.release(each);
    });
    // The others go on waiting: what they find is as new at the next call.
    await Promise.race(waiting);
  }

  topicConfiguration(topic: string, names: readonly string[]): Promise<Record<string, string>> {
    return this.#configuration({ topic }, names);
  }

  async brokerConfiguration(names: readonly string[]): Promise<Record<string, string>> {
    const [broker] = await this.#brokers();
    return this.#configuration({ broker: broker! }, names);
  }

  async verifiesTransactions(): Promise<boolean> {
    const answers = await Promise.all((await this.#brokers()).map((broker) => this.#verifies(broker)));
    return answers.every((answer) => answer);
  }

  initProducer(transactionalId: string, transactionTimeoutMs: number): Promise<ProducerIdentity> {
    const deadline = this.#cluster.deadline();
    const init = () =>
      askCoordinator(this.#cluster, ["transaction", transactionalId], {
        what: `InitProducerId of ${transactionalId}`,
        lane: transactionalId,
        deadline,
        request: initProducerId(transactionalId, transactionTimeoutMs),
      });
    return retrying(init, {
      timeoutMs: deadline.leftMs,
      signal: deadline.signal,
      longestPauseMs: longestInitPauseMs,
      retryable: (error) => isKafkaError(error, "CONCURRENT_TRANSACTIONS"),
    });
  }

  async addPartitions(producer: ProducerIdentity, partitions: readonly TopicPartition[]): Promise<void> {
    await this.#transact(producer, "AddPartitionsToTxn", addPartitionsToTransaction(producer, partitions));
  }

  async idempotentProducer(): Promise<IdempotentProducer> {
    const { code, message, value } = await this.#cluster.ask(initProducerId(null, noTimeout), this.#cluster.deadline());
    if (code !== 0) throw brokerError(code, "InitProducerId", message);
    const { producerId, producerEpoch } = value;
    return { producerId, producerEpoch };
  }

  async produce(producer: ProducerIdentity | IdempotentProducer, batches: readonly ProduceRequest[]): Promise<void> {
    const deadline = this.#cluster.deadline();
    const transactionalId = "transactionalId" in producer ? producer.transactionalId : null;
    await askLeaders(this.#cluster, batches, {
      what: "Produce",
      lane: transactionalId ?? directLane,
      deadline,
      request: (led) => produce(transactionalId, led, deadline.leftMs),
    });
  }

  async addGroupOffset(producer: ProducerIdentity, group: string, topic: string, offset: GroupOffset): Promise<void> {
    await this.#transact(producer, `AddOffsetsToTxn of the group ${group}`, addOffsetsToTransaction(producer, group));
    await askCoordinator(this.#cluster, ["group", group], {
      what: `TxnOffsetCommit of the group ${group} on ${topic}/0`,
      lane: producer.transactionalId,
      deadline: this.#cluster.deadline(),
      request: transactionalOffsetCommit(producer, group, { topic, partition: 0 }, offset),
    });
  }

  endTransaction(producer: ProducerIdentity, outcome: "commit" | "abort"): Promise<void> {
    return this.#transact(producer, "EndTxn", endTransaction(producer, outcome));
  }

  groupOffset(group: string, topic: string): Promise<GroupOffset | undefined> {
    return askCoordinator(this.#cluster, ["group", group], {
      what: `OffsetFetch of the group ${group} on ${topic}/0`,
      lane: controlLane,
      deadline: this.#cluster.deadline(),
      request: stableGroupOffset(group, { topic, partition: 0 }),
    });
  }

  async close(): Promise<void> {
    this.#cluster.close();
  }

  /** Asks the coordinator of a transactional id about the open transaction. */
  #transact(producer: ProducerIdentity, name: string, request: ApiRequest<Answer<void>>) {
    const { transactionalId } = producer;
    return askCoordinator(this.#cluster, ["transaction", transactionalId], {
      what: `${name} by ${transactionalId}`,
      lane: transactionalId,
      deadline: this.#cluster.deadline(),
      request,
    });
  }

  async #brokers(): Promise<number[]> {
    const { brokers } = await this.#cluster.metadata([], this.#cluster.deadline());
    return [...brokers.keys()];
  }

  async #verifies(broker: number): Promise<boolean> {
    try {
      const found = await this.#configuration({ broker }, [verification]);
      return found[verification] === "true";
    } catch (error) {
      if (!isKafkaError(error, "CLUSTER_AUTHORIZATION_FAILED")) throw error;
      const connection = await this.#cluster.connection(broker, this.#cluster.deadline());
      return newIn36.every(([key, version]) => connection.supports(key, version));
    }
  }

  async #configuration(resource: Resource, names: readonly string[]): Promise<Record<string, string>> {
    const deadline = this.#cluster.deadline();
    const request = describeConfigs(resource, names);
    const { code, message, value } = await ("broker" in resource
      ? (await this.#cluster.connection(resource.broker, deadline)).send(request, deadline)
      : this.#cluster.ask(request, deadline));
    if (code === 0) return value;
    const what = "broker" in resource ? `broker ${resource.broker}` : `the topic ${resource.topic}`;
    throw brokerError(code, `DescribeConfigs of ${what}`, message);
  }
}

const unknownTopic = 3;

/** The setting exists since 3.6, and is on unless somebody turned it off. Whoever may not see it must judge by what else came by then. */
const verification = "transaction.partition.verification.enable";
/** OffsetCommit of KIP-848, and AddPartitionsToTxn between brokers. */
const newIn36 = [
  [8, 9],
  [24, 4],
] as const;
