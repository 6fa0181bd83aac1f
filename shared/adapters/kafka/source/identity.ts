import { LossError } from "../../../errors.ts";
import type { Json } from "../../../json.ts";
import type { TopicPartition } from "../client.ts";

/** By what a partition is known again: a topic that is made anew has another id, and a log that lost its end a later leader epoch. */
export type PartitionIdentity = {
  /** The topic's own id, which Kafka gives it. */
  readonly topicId: string;
  /** Of the leader that gave the end: what lies below it is of this leader epoch or one before. */
  readonly leaderEpoch: number;
};

export const partitionId = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** @throws LossError `kafka-partition-unknown` for what is none of ours */
export function parsePartitionId(id: string): TopicPartition {
  const match = /^([A-Za-z0-9._-]{1,249})\/(\d{1,9})$/.exec(id);
  if (match === null) throw notOurs(id);
  return { topic: match[1]!, partition: Number(match[2]) };
}

/** @throws LossError `kafka-partition-unknown` */
export function parseIdentity(id: string, identity: Json): PartitionIdentity {
  if (typeof identity === "object" && identity !== null && !Array.isArray(identity)) {
    const { topicId, leaderEpoch } = identity as Readonly<Record<string, Json>>;
    if (typeof topicId === "string" && typeof leaderEpoch === "number") return { topicId, leaderEpoch };
  }
  throw notOurs(id);
}

function notOurs(id: string): LossError {
  return new LossError(
    "kafka-partition-unknown",
    `The ledger's partition ${JSON.stringify(id.slice(0, 300))} is not one of a Kafka source`,
    {
      wayOut:
        "The ledger is damaged, or of another pipeline: restore it from a backup, or start anew with `epochflow reset`.",
      place: { partition: id.slice(0, 300) },
    },
  );
}
