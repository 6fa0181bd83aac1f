import type { KafkaStart } from "../../../pipeline/connectors/kafka.ts";
import type { KafkaClient, TopicPartition } from "../client.ts";
import { startOutside, unknownStart } from "./errors.ts";
import { partitionId } from "./identity.ts";

/** The offsets of a partition's log as they are now. */
export interface Log {
  readonly of: TopicPartition;
  /** The first offset that is there. */
  readonly start: number;
  /** Readable up to here, exclusive. */
  readonly end: number;
}

/** Where the partitions that exist at the first plan start (protocol §7). `momentary`: another moment would give another offset. */
export interface Start {
  readonly start: number;
  readonly momentary?: true;
}

/**
 * In the order of the logs. By time: at the first record that is not older, or at the end; never behind the end, though it may be that an open transaction
 * there has newer records.
 *
 * @throws UsageError `kafka-start-offset` for offsets that the log does not have, and partitions that are not there
 */
export async function startsOf(client: KafkaClient, from: KafkaStart, logs: readonly Log[]): Promise<Start[]> {
  if (from === "earliest") return logs.map(({ start }) => ({ start }));
  if (from === "latest") return logs.map(({ end }) => ({ start: end, momentary: true }));
  if ("offsets" in from) return givenStarts(from.offsets, logs);
  const found = await client.offsets(
    logs.map(({ of }) => of),
    from,
  );
  return logs.map(({ start, end }, index) => {
    const offset = found[index]!;
    return { start: offset < 0 ? end : Math.min(Math.max(offset, start), end), momentary: true };
  });
}

function givenStarts(offsets: Readonly<Record<string, number>>, logs: readonly Log[]): Start[] {
  const given = new Map(Object.entries(offsets));
  const names = logs.map(({ of }) => partitionId(of));
  for (const name of given.keys()) {
    const isKnown = names.includes(name) || logs.some(({ of }) => String(of.partition) === name);
    if (!isKnown) throw unknownStart(name, names);
  }
  return logs.map(({ of, start, end }) => {
    const offset = given.get(partitionId(of)) ?? given.get(String(of.partition));
    if (offset === undefined) return { start };
    if (!(offset >= start && offset <= end)) throw startOutside(partitionId(of), offset, { start, end });
    return { start: offset };
  });
}
