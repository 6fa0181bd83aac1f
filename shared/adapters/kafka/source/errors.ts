import { InfrastructureError, LossError, UsageError } from "../../../errors.ts";
import { isTopicName } from "../topic-name.ts";

const startAnew = "start anew with `epochflow reset`, where `startFrom` counts again";

/** Of a source's first plan: it goes on by itself once the topic is there. */
export function topicMissing(topic: string): InfrastructureError {
  return new InfrastructureError("kafka-topic-missing", `The topic ${topic} does not exist`, {
    wayOut: "Create it, or correct the name of the source's topic; where it exists, grant DESCRIBE and READ on it.",
    place: { partition: topic },
  });
}

export function noTopicMatches(pattern: RegExp): InfrastructureError {
  return new InfrastructureError("kafka-topic-missing", `No topic has a name that matches ${pattern}`, {
    wayOut: "Create one, or correct the source's pattern; where there is one, grant DESCRIBE and READ on it.",
  });
}

export function topicGone(partition: string, topic: string, position: number): LossError {
  return new LossError(
    "kafka-topic-gone",
    `The topic ${topic} is gone; ${partition} was read up to offset ${position}`,
    {
      wayOut: `Nobody can bring its records back. To go on without them, make it again and ${startAnew}.`,
      place: { partition, offset: position },
    },
  );
}

export function topicUnnamed(topic: string): LossError {
  return new LossError("kafka-topic-unnamed", `The source has read the topic ${topic}, and does not name it any more`, {
    wayOut: `Name it again and run \`epochflow resume\`; or, to leave the rest of it unread, ${startAnew}, or give the changed pipeline another name.`,
    place: { partition: topic },
  });
}

/** @throws UsageError for a name that no topic can have */
export function checkTopicName(topic: string): void {
  if (isTopicName(topic)) return;
  throw new UsageError("kafka-topic-name", `${JSON.stringify(topic.slice(0, 300))} cannot be the name of a topic`, {
    wayOut: "Names are up to 249 letters, digits, dots, underscores and hyphens.",
  });
}

export function topicMadeAnew(partition: string, ids: { known: string; now: string }, position: number): LossError {
  return new LossError(
    "kafka-topic-replaced",
    `The topic of ${partition} was deleted and made anew (its id was ${ids.known}, and is ${ids.now}); the old one was read up to offset ${position}`,
    {
      wayOut: `To read the new topic from its beginning, ${startAnew}.`,
      place: { partition, offset: position },
    },
  );
}

export function partitionGone(partition: string, partitions: number, position: number): LossError {
  return new LossError(
    "kafka-partition-gone",
    `The topic has ${partitions} partitions now, and ${partition} is not among them; it was read up to offset ${position}`,
    {
      wayOut: `Nobody can bring its records back. To go on without them, ${startAnew}.`,
      place: { partition, offset: position },
    },
  );
}

/** Retention, or DeleteRecords, was faster than the pipeline. */
export function offsetsGone(partition: string, position: number, logStart: number): LossError {
  return new LossError(
    "kafka-offsets-gone",
    `Offsets ${position} to ${logStart - 1} of ${partition} were deleted before they were read: its log begins at ${logStart}`,
    {
      wayOut: `Lengthen the topic's retention (\`retention.ms\`, \`retention.bytes\`). To go on without these records, ${startAnew}.`,
      place: { partition, offset: position },
    },
  );
}

/** A leader was elected that did not have all records (unclean election). */
export function logTruncated(partition: string, position: number, epoch: number, end: number): LossError {
  return new LossError(
    "kafka-log-truncated",
    `${partition} lost the offsets from ${end} on, though they were there in leader epoch ${epoch}, and we need it up to ${position}: a replica without them became the leader`,
    {
      wayOut: `Results rest on records that the topic has no more. To go on from what it has, ${startAnew}; \`unclean.leader.election.enable=false\` prevents it.`,
      place: { partition, offset: end },
    },
  );
}

/** It may be that a broker which was just started does not know yet how far the others are: so this is a loss only after a while. */
export function endBelow(partition: string, position: number, end: number): InfrastructureError {
  return new InfrastructureError(
    "kafka-end-below-position",
    `${partition} ends at offset ${end}, and we need it up to ${position}: the broker may not have caught up yet`,
    { wayOut: "Wait; if it stays, look at the topic's replicas.", place: { partition, offset: end } },
  );
}

export function endStaysBelow(partition: string, position: number, end: number): LossError {
  return new LossError(
    "kafka-end-below-position",
    `${partition} ends at offset ${end}, for longer than a minute, though it was there up to ${position}`,
    {
      wayOut: `Was a disk lost, or restored from an older copy? Bring a replica back that has the records. To go on without them, ${startAnew}.`,
      place: { partition, offset: end },
    },
  );
}

export function unknownStart(name: string, known: readonly string[]): UsageError {
  const some = known.slice(0, 5).join(", ");
  return new UsageError("kafka-start-offset", `startFrom.offsets names ${name}, which the source does not have`, {
    wayOut: `Name partitions as "topic/partition", or by number for every topic. There are ${known.length}: ${some}${known.length > 5 ? ", …" : ""}.`,
    place: { partition: name },
  });
}

export function startOutside(partition: string, offset: number, log: { start: number; end: number }): UsageError {
  return new UsageError(
    "kafka-start-offset",
    `startFrom.offsets begins ${partition} at ${offset}, but its log has the offsets ${log.start} to ${log.end}`,
    { wayOut: "Give an offset that the log has, or its end.", place: { partition, offset } },
  );
}

/** @param error why the last try failed */
export function unreadable(
  partition: string,
  offset: number,
  forMs: number,
  error: InfrastructureError,
): InfrastructureError {
  const seconds = Math.round(forMs / 1000);
  return new InfrastructureError(
    error.code,
    `${partition} could not be read at offset ${offset} for ${seconds} s: ${error.message}`,
    {
      ...(error.wayOut === undefined ? {} : { wayOut: error.wayOut }),
      place: { ...error.place, partition, offset },
      cause: error,
    },
  );
}
