import type { Options } from "../../composition/connector.ts";
import { murmur2, placeOf } from "../../shared/adapters/kafka/sink/partitioner.ts";
import type { KafkaSinkSettings } from "../../shared/pipeline/connectors/kafka.ts";
import { type FailedRecord, replayOfHeader, replaysHeader } from "./letter.ts";
import type { Place } from "./places.ts";

/** A record as it was, with two headers more. */
export function topicSettings({ topic, connection }: Extract<Place, { kind: "topic" }>): Options {
  const settings: KafkaSinkSettings<FailedRecord> = {
    connection,
    ...{ topic, markerTopic: topic, lanes: 1, compression: "none", epochHeader: undefined },
    key: ({ key }) => key,
    value: { name: "as it was", encode: ({ value }) => value },
    headers: headersOf,
    partition: (record, partitions) => partitionOf(record, topic, partitions),
    timestamp: ({ timestamp }) => Math.max(0, timestamp ?? Date.now()),
  };
  return settings as unknown as Options;
}

function headersOf({ headers, replays, partition, offset }: FailedRecord) {
  const own = headers.filter(([name]) => name !== replaysHeader && name !== replayOfHeader);
  return [...own, [replaysHeader, String(replays + 1)], [replayOfHeader, `${partition}@${offset}`]] as const;
}

/** The one that it came from, whoever chose that; in another topic the one that Java's default partitioner chooses. */
function partitionOf({ key, value, partition }: FailedRecord, topic: string, partitions: number): number {
  const number = Number(partition.slice(partition.lastIndexOf("/") + 1));
  if (partition === `${topic}/${number}` && number < partitions) return number;
  return placeOf(murmur2(key ?? value ?? Buffer.alloc(0)), partitions);
}
