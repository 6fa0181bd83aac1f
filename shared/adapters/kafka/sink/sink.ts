import { UsageError } from "../../../errors.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { ObjectStore } from "../../../ports/object-store.ts";
import type { Random } from "../../../ports/random.ts";
import type {
  CommitContext,
  CommitUnit,
  PreparedTask,
  SinkContext,
  Transaction,
  TwoPhaseCommitSink,
  UnitDecision,
} from "../../../ports/sink.ts";
import type { KafkaClient } from "../client.ts";
import { SinkBrokers } from "./brokers.ts";
import { DirectProducer } from "./direct-producer.ts";
import { topicMissing } from "./errors.ts";
import { LaneCommit } from "./lane-commit.ts";
import { checkUnit, type LaneUnit, laneUnits } from "./lanes.ts";
import { RowWriters } from "./row-writers.ts";
import { type MarkerPlace, type PreparedOutput, stage } from "./staged-output.ts";
import { StagedRows } from "./staged-rows.ts";
import { TargetTopics } from "./target-topics.ts";

const defaultTransactionTimeoutMs = 60_000;

export interface KafkaSinkPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Readers wait at most so long for a committer that died in the middle; a minute by default. */
  readonly transactionTimeoutMs?: number;
}

/**
 * Rows as records of Kafka topics, exactly once for readers in `read_committed` (protocol §9, Kafka). Pre-commit stages encoded record batches in
 * the object store; the commit sends them in one transaction for each lane and epoch. The client is the caller's to close.
 *
 * @throws UsageError for settings that cannot be
 */
export function createKafkaSink<T>(
  settings: KafkaSinkSettings<T>,
  client: KafkaClient,
  objects: ObjectStore,
  ports: KafkaSinkPorts,
): TwoPhaseCommitSink<T, PreparedOutput, LaneUnit> {
  if (Number.isSafeInteger(settings.lanes) && settings.lanes > 0)
    return new KafkaSink(settings, client, objects, ports);
  throw new UsageError("invalid-option", `kafka.sink() has ${settings.lanes} lanes, but needs 1 or more`);
}

class KafkaSink<T> implements TwoPhaseCommitSink<T, PreparedOutput, LaneUnit> {
  readonly #settings: KafkaSinkSettings<T>;
  readonly #client: KafkaClient;
  readonly #objects: ObjectStore;
  /** The topic of all rows, where it is fixed. */
  readonly #topic: string | undefined;
  readonly #topics: TargetTopics;
  readonly #brokers: SinkBrokers;
  readonly #lanes: LaneCommit;
  readonly #direct: DirectProducer;
  readonly #writers: RowWriters<T>;

  constructor(settings: KafkaSinkSettings<T>, client: KafkaClient, objects: ObjectStore, ports: KafkaSinkPorts) {
    const { clock, transactionTimeoutMs = defaultTransactionTimeoutMs } = ports;
    const { markerTopic, topic } = settings;
    this.#settings = settings;
    this.#client = client;
    this.#objects = objects;
    this.#topic = typeof topic === "string" ? topic : undefined;
    this.#topics = new TargetTopics(client, clock, this.#topic === undefined ? null : [this.#topic, markerTopic]);
    this.#brokers = new SinkBrokers(client, clock, transactionTimeoutMs);
    const limits = (sink: string) => this.#brokers.check(sink);
    this.#direct = new DirectProducer(client, ports);
    this.#writers = new RowWriters(settings);
    this.#lanes = new LaneCommit({ client, objects, ...ports, markerTopic, transactionTimeoutMs, limits });
  }

  /** Nothing in Kafka need be taken possession of: transactional ids and groups hold the ledger's uid. */
  async open({ sink, direct }: { sink: string; direct?: boolean }): Promise<void> {
    // What transactions need of brokers, a plain producer does not.
    if (!direct) await this.#brokers.check(sink);
    await this.#loadTopics(sink);
  }

  async begin(context: SinkContext): Promise<StagedRows<T>> {
    await this.#loadTopics(context.sink);
    return new StagedRows(this.#settings, this.#topics, this.#writers, context);
  }

  /** By an idempotent producer, in no transaction: acknowledged by all in-sync replicas, and seen by all readers. */
  async publish(transaction: Transaction<T>): Promise<void> {
    const rows = mine(transaction);
    await this.#direct.send(rows.context, rows.finish());
  }

  async preCommit(given: Transaction<T>): Promise<PreparedOutput | undefined> {
    const transaction = mine(given);
    const { context } = transaction;
    const { lanes } = this.#settings;
    const prepared = await stage(this.#objects, context, transaction.finish(), lanes, () => this.#markerPlace());
    // Not if it failed: a write may still be under way then.
    transaction.release();
    return prepared;
  }

  /** Asked each time: an id that is out of date would make the topic look as if it had been made anew since. */
  async #markerPlace(): Promise<MarkerPlace> {
    const { markerTopic: topic } = this.#settings;
    const id = this.#topic === topic ? ((await this.#client.topics([topic]))[0]?.id ?? null) : null;
    return { topic, id };
  }

  units(prepared: readonly PreparedTask<PreparedOutput>[], decision: UnitDecision): CommitUnit<LaneUnit>[] {
    return laneUnits(prepared, decision);
  }

  async commit(context: CommitContext<LaneUnit>): Promise<void> {
    this.#check(context);
    await this.#lanes.commit(context);
  }

  async abandon(context: CommitContext<LaneUnit>): Promise<"committed" | "lost" | "unknown"> {
    this.#check(context);
    return await this.#lanes.abandon(context);
  }

  /** What is staged lies in the object store, whose collector takes it. */
  async abort(): Promise<void> {}

  async close(): Promise<void> {}

  #check(context: CommitContext<LaneUnit>): void {
    checkUnit(context, context.key, context.unit, this.#topic, this.#settings.markerTopic);
  }

  async #loadTopics(sink: string): Promise<void> {
    const { markerTopic } = this.#settings;
    await this.#topics.load();
    for (const name of [this.#topic ?? markerTopic, markerTopic])
      if (this.#topics.get(name) === undefined) throw topicMissing(sink, name);
  }
}

function mine<T>(transaction: Transaction<T>): StagedRows<T> {
  if (transaction instanceof StagedRows) return transaction;
  throw new TypeError("the transaction is not one of this sink");
}
