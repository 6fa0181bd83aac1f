import type { KafkaClient, TopicMetadata, TopicPartition } from "../client.ts";
import { logTruncated, partitionGone, topicGone, topicMadeAnew } from "./errors.ts";
import { type PartitionIdentity, partitionId } from "./identity.ts";

/**
 * That the partition is still of the topic that the ledger knows.
 *
 * @throws LossError `kafka-topic-gone`, `kafka-topic-replaced`, `kafka-partition-gone`
 */
export function checkThere(
  id: string,
  position: number,
  identity: PartitionIdentity,
  { topic, partition }: TopicPartition,
  topics: readonly TopicMetadata[],
): void {
  const now = topics.find((one) => one.topic === topic);
  if (now === undefined) throw topicGone(id, topic, position);
  if (now.id !== identity.topicId) throw topicMadeAnew(id, { known: identity.topicId, now: now.id }, position);
  if (!now.partitions.some((one) => one.partition === partition))
    throw partitionGone(id, now.partitions.length, position);
}

/**
 * Where the log's end of an epoch lies below what was read in it, or before it, records are gone that we have read (KIP-101).
 *
 * @throws LossError `kafka-log-truncated`
 */
export async function checkLeaderEpoch(
  client: KafkaClient,
  of: TopicPartition,
  leaderEpoch: number,
  position: number,
): Promise<void> {
  const end = await client.endOfLeaderEpoch(of, leaderEpoch);
  if (end >= 0 && end < position) throw logTruncated(partitionId(of), position, leaderEpoch, end);
}

/**
 * That a range is still of the topic and log that it was planned on. Asked after the last fetch: an id that never comes back says the same of all before.
 *
 * @throws LossError
 */
export async function checkUnchanged(
  client: KafkaClient,
  range: {
    readonly id: string;
    readonly of: TopicPartition;
    readonly identity: PartitionIdentity;
    readonly position: number;
  },
): Promise<void> {
  const { id, of, identity, position } = range;
  const topics = await client.topics([of.topic]);
  checkThere(id, position, identity, of, topics);
  const now = topics[0]!.partitions.find(({ partition }) => partition === of.partition)!;
  if (now.leaderEpoch > identity.leaderEpoch) await checkLeaderEpoch(client, of, identity.leaderEpoch, position);
}
