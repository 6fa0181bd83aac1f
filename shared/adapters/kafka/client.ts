/** A partition as the cluster's metadata has it. */
export interface PartitionMetadata {
  readonly partition: number;
  /** Node id of the leader; null while there is none. */
  readonly leader: number | null;
  readonly leaderEpoch: number;
  /** Copies of the partition, the leader's included. */
  readonly replicas?: number;
}

/** `id` is the topic's own, 22 characters of base64url: a topic that was deleted and made anew has another. */
export interface TopicMetadata {
  readonly topic: string;
  readonly id: string;
  readonly internal: boolean;
  /** Ascending by number, without gaps. */
  readonly partitions: readonly PartitionMetadata[];
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface Position extends TopicPartition {
  readonly offset: number;
}

export type Isolation = "read_committed" | "read_uncommitted";

/** An offset, as a partition's leader gives it, and the leader epoch in which it does: no record below the offset is of a later one. */
export interface LogEnd {
  readonly offset: number;
  readonly leaderEpoch: number;
}

export interface FetchRequest extends Position {
  readonly isolation: Isolation;
  /** At least one whole batch comes, however large it is. */
  readonly maxBytes: number;
  /** Longest time that the broker waits for a first byte. */
  readonly maxWaitMs: number;
}

/** How much to fetch of several partitions: of each at most so many bytes, and when so many are there of all, or after so long. */
export interface FetchLimits extends Pick<FetchRequest, "isolation" | "maxBytes" | "maxWaitMs"> {
  readonly minBytes: number;
}

export interface Fetched {
  /** Whole batches and perhaps the beginning of one more; may begin below the offset that was asked for. */
  readonly records: Buffer;
  readonly logStart: number;
  readonly highWatermark: number;
  readonly lastStable: number;
  /** Transactions of the batches that were aborted, in no order that one may rely on. */
  readonly aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[];
}

/** Who writes: what InitProducerId gave. Brokers know a batch of it that comes twice by its sequence number. */
export interface IdempotentProducer {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

/** Who writes in transactions. A later one under the same id fences it. */
export interface ProducerIdentity extends IdempotentProducer {
  readonly transactionalId: string;
}

/** A transaction that is not over, on one of its partitions. */
export interface OpenTransaction extends TopicPartition {
  /** Its first offset in the partition: readers of committed records come no further. */
  readonly from: number;
  readonly producerId: bigint;
  /** Null where we may not see it. */
  readonly transactionalId: string | null;
  /** Epoch milliseconds, and milliseconds after which the broker aborts it; null where we may not see them. */
  readonly startedAt: number | null;
  readonly timeoutMs: number | null;
}

/** One encoded record batch (v2), patched for its producer, for one partition. */
export interface ProduceRequest extends TopicPartition {
  readonly batch: Buffer;
}

/** The group's offset on partition 0 of a topic, and what lies beside it. */
export interface GroupOffset {
  readonly offset: number;
  readonly metadata: string;
}

/**
 * What epochflow asks of a Kafka cluster, over connections that are made when they are needed and made anew when they break. The seam at which another
 * client could take the place of ours. Every call has a deadline. It retries nothing but finding its broker: a leader that has moved once, a coordinator until the
 * deadline. It throws `KafkaError`, whose `broker` a caller can act upon. Offsets are numbers: exact below 2^53.
 */
export interface KafkaClient {
  /** Topics of these names, those that do not exist left out; null: all that we may see. */
  topics(names: readonly string[] | null): Promise<TopicMetadata[]>;
  /** For each partition its first offset, or the first whose record is not older than a time in epoch milliseconds (-1: none; it may be above the last stable offset). */
  offsets(partitions: readonly TopicPartition[], which: "earliest" | { readonly timestamp: number }): Promise<number[]>;
  /** For each partition its end for a reader: the last stable offset, or the high watermark. */
  ends(partitions: readonly TopicPartition[], isolation: Isolation): Promise<LogEnd[]>;
  /** Whose transactions are open on partitions, by first offset (KIP-664, brokers since 2.8). */
  openTransactions(partitions: readonly TopicPartition[]): Promise<OpenTransaction[]>;
  /** End of a leader epoch in the leader's log (OffsetForLeaderEpoch); -1 if the broker does not know it. */
  endOfLeaderEpoch(partition: TopicPartition, leaderEpoch: number): Promise<number>;
  fetch(request: FetchRequest, signal?: AbortSignal): Promise<Fetched>;
  /** Takes the memory of what was fetched for later answers: nobody looks at it any more. Where nobody knows that, it is left to garbage collection. */
  release(fetched: Fetched): void;
  /**
   * What is there of several partitions, in their order, when it is enough or has taken long enough. Undefined for one whose leader is of another epoch than
   * was said, or has any other error: `fetch` tells which.
   */
  fetchEach(
    positions: readonly (Position & { readonly leaderEpoch: number })[],
    limits: FetchLimits,
    signal?: AbortSignal,
  ): Promise<(Fetched | undefined)[]>;
  /**
   * Resolves when one of the partitions has a record at its offset or behind it, committed or not, or says that something else is the matter with it; or after so
   * many milliseconds.
   */
  awaitRecords(positions: readonly Position[], maxWaitMs: number, signal?: AbortSignal): Promise<void>;

  /** Configuration of a topic, or of the brokers, by name: the names that are asked for. */
  topicConfiguration(topic: string, names: readonly string[]): Promise<Record<string, string>>;
  brokerConfiguration(names: readonly string[]): Promise<Record<string, string>>;
  /** Whether brokers check produce requests against open transactions (KIP-890, since 3.6): without it a zombie's late batch can land in its successor's transaction. */
  verifiesTransactions(): Promise<boolean>;

  /** A producer without transactions, whom nobody fences. */
  idempotentProducer(): Promise<IdempotentProducer>;
  /** Fences all earlier producers of the id, and resolves when their open transaction is over. */
  initProducer(transactionalId: string, transactionTimeoutMs: number): Promise<ProducerIdentity>;
  addPartitions(producer: ProducerIdentity, partitions: readonly TopicPartition[]): Promise<void>;
  /** Batches of different partitions at once: each goes to its leader. Resolves when all are acknowledged by all in-sync replicas. */
  produce(producer: ProducerIdentity | IdempotentProducer, batches: readonly ProduceRequest[]): Promise<void>;
  /** Makes the offset of the group part of the open transaction (AddOffsetsToTxn, TxnOffsetCommit). */
  addGroupOffset(producer: ProducerIdentity, group: string, topic: string, offset: GroupOffset): Promise<void>;
  endTransaction(producer: ProducerIdentity, outcome: "commit" | "abort"): Promise<void>;
  /** Stable (OffsetFetch with requireStable): `KafkaError` UNSTABLE_OFFSET_COMMIT while a transaction of the group is open. */
  groupOffset(group: string, topic: string): Promise<GroupOffset | undefined>;
  close(): Promise<void>;
}
