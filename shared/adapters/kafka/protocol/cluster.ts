import { brokerError } from "../broker-errors.ts";
import type { TopicPartition } from "../client.ts";
import type { KafkaConnection } from "../connection/connection.ts";
import { isKafkaError, KafkaError } from "../errors.ts";
import { type Address, formatAddress, parseAddress } from "./address.ts";
import type { AnswerMemory } from "./answer-memory.ts";
import type { ApiRequest } from "./api-request.ts";
import type { BrokerConnection } from "./broker-connection.ts";
import { Connections } from "./connections.ts";
import { Deadline } from "./deadline.ts";
import { type Metadata, metadata } from "./requests/metadata.ts";
import { type CoordinatorKind, findCoordinator } from "./requests/transactions.ts";

export interface Timeouts {
  /** For a connection, with TLS and login. */
  readonly connectMs: number;
  /** For a call, connections that it needs included. */
  readonly callMs: number;
}

/** Lane of requests that are answered at once, and that any broker may answer. */
const control = "control";

/** Which brokers there are, who leads, who coordinates, and the connections to them. What is known is kept until somebody finds it wrong. */
export class Cluster {
  readonly #seeds: readonly Address[];
  readonly #connections: Connections;
  readonly #callMs: number;
  readonly #leaders = new Map<string, number>();
  readonly #coordinators = new Map<string, number>();
  #brokers: ReadonlyMap<number, Address> = new Map();

  constructor(to: KafkaConnection, { connectMs, callMs }: Timeouts) {
    this.#seeds = to.brokers.map(parseAddress);
    this.#connections = new Connections(to, connectMs);
    this.#callMs = callMs;
  }

  close(): void {
    this.#connections.close();
  }

  /** Where large answers lie. */
  get memory(): AnswerMemory {
    return this.#connections.memory;
  }

  /** Of a call that may take so much longer than others; it ends when the client is closed, too. */
  deadline(signal?: AbortSignal, moreMs = 0): Deadline {
    const { closing } = this.#connections;
    return new Deadline(this.#callMs + moreMs, signal === undefined ? closing : AbortSignal.any([signal, closing]));
  }

  /** Asks any broker. */
  async ask<T>(request: ApiRequest<T>, deadline: Deadline): Promise<T> {
    return (await this.#anyConnection(deadline)).send(request, deadline);
  }

  async metadata(names: readonly string[] | null, deadline: Deadline): Promise<Metadata> {
    const found = await this.ask(metadata(names), deadline);
    this.#brokers = found.brokers;
    for (const { topic, partitions } of found.topics) {
      for (const { partition, leader } of partitions) {
        if (leader === null) this.#leaders.delete(`${topic}/${partition}`);
        else this.#leaders.set(`${topic}/${partition}`, leader);
      }
    }
    return found;
  }

  /** A connection to a node of the cluster. */
  async connection(node: number, deadline: Deadline, lane = control): Promise<BrokerConnection> {
    if (!this.#brokers.has(node)) await this.metadata([], deadline);
    const address = this.#brokers.get(node);
    if (address !== undefined) return this.#connections.get(address, lane, deadline);
    throw new KafkaError("BROKER_NOT_AVAILABLE", `Kafka broker ${node} is not in the cluster now`);
  }

  /** The partitions by the node that leads them. @throws KafkaError UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE and others */
  async byLeader<P extends TopicPartition>(partitions: readonly P[], deadline: Deadline): Promise<Map<number, P[]>> {
    const unknown = partitions.filter((each) => !this.#leaders.has(nameOf(each)));
    if (unknown.length > 0) {
      const names = [...new Set(unknown.map(({ topic }) => topic))];
      const found = await this.metadata(names, deadline);
      for (const partition of unknown) this.#checkLeader(found, partition);
    }
    return Map.groupBy(partitions, (each) => this.#leaders.get(nameOf(each))!);
  }

  forgetLeaders(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) this.#leaders.delete(nameOf(partition));
  }

  /** The node that coordinates a group or a transactional id. @throws KafkaError COORDINATOR_NOT_AVAILABLE while the brokers make the topic that they keep it in */
  async coordinator(kind: CoordinatorKind, key: string, deadline: Deadline): Promise<number> {
    const known = this.#coordinators.get(`${kind} ${key}`);
    if (known !== undefined) return known;
    const { code, message, value } = await this.ask(findCoordinator(kind, key), deadline);
    if (code !== 0) throw brokerError(code, `FindCoordinator of the ${kind} ${key}`, message);
    this.#coordinators.set(`${kind} ${key}`, value);
    return value;
  }

  forgetCoordinator(kind: CoordinatorKind, key: string): void {
    this.#coordinators.delete(`${kind} ${key}`);
  }

  #checkLeader({ topics }: Metadata, partition: TopicPartition): void {
    if (this.#leaders.has(nameOf(partition))) return;
    const topic = topics.find((each) => each.topic === partition.topic);
    const what = `Metadata of ${nameOf(partition)}`;
    if (topic !== undefined && topic.code !== 0) throw brokerError(topic.code, what);
    const isThere = topic?.partitions.some((each) => each.partition === partition.partition);
    throw brokerError(isThere ? leaderNotAvailable : unknownTopicOrPartition, what);
  }

  /** One that is open, or the first that can be opened. */
  async #anyConnection(deadline: Deadline): Promise<BrokerConnection> {
    const known = [...this.#brokers.values(), ...this.#seeds];
    const addresses = [...new Map(known.map((address) => [formatAddress(address), address])).values()];
    const open = addresses.find((address) => this.#connections.isOpen(address, control));
    const failures: unknown[] = [];
    for (const address of open === undefined ? addresses : [open]) {
      try {
        return await this.#connections.get(address, control, deadline);
      } catch (error) {
        if (!isKafkaError(error, "UNREACHABLE", "TIMED_OUT", "DISCONNECTED")) throw error;
        failures.push(error);
      }
    }
    if (failures.length === 1) throw failures[0];
    throw noneReachable(failures as KafkaError[]);
  }
}

const leaderNotAvailable = 5;
const unknownTopicOrPartition = 3;

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

function noneReachable(failures: readonly KafkaError[]): KafkaError {
  const [first] = failures;
  const reasons = failures.map(({ message }) => message).join("; ");
  return new KafkaError("UNREACHABLE", `No Kafka broker can be reached. ${reasons}`, {
    ...(first?.wayOut === undefined ? {} : { wayOut: first.wayOut }),
    cause: first,
  });
}
