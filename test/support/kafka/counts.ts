/** The word count of `examples/word-count-kafka.ts`: its input, what must come of it, and what Java's read_committed consumer finds. */
import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import type { Oracle, OracleRecord, OutgoingRecord } from "./oracle.ts";

const windowMs = 10_000;
const firstTime = 1_700_000_000_000;

/** Lines of a few words, a millisecond apart and some of them up to two seconds behind; dealt to partitions in turn. */
export function makeLines(topic: string, partitions: number, count: number, random: SeededRandom): OutgoingRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const words = Array.from({ length: 1 + random.below(8) }, () => `w${Math.floor(random.below(40) ** 2 / 40)}`);
    const behind = random.below(50) === 0 ? random.below(2000) : 0;
    const timestamp = Math.max(firstTime, firstTime + index * 25 - behind);
    return { topic, partition: index % partitions, timestamp, value: words.join(" ") };
  });
}

/** In pieces, so that batches are many and small. */
export async function sendLines(oracle: Oracle, lines: readonly OutgoingRecord[]): Promise<void> {
  await using producer = await oracle.producer({ compression: "lz4" });
  for (let from = 0; from < lines.length; from += 500) await producer.send(...lines.slice(from, from + 500));
}

/** A batch evaluation: counts by window and word, as the texts that a consumer must find. */
export function expectedCounts(lines: readonly OutgoingRecord[]): string[] {
  const counts = new Map<string, number>();
  for (const { value, timestamp } of lines)
    for (const word of String(value).split(" ")) {
      const row = JSON.stringify({ word, windowStart: timestamp! - (timestamp! % windowMs) });
      counts.set(row, (counts.get(row) ?? 0) + 1);
    }
  return [...counts].map(([row, count]) => row.replace("}", `,"count":${count}}`)).sort();
}

export interface Found {
  /** Sorted. */
  readonly counts: string[];
  /** What is wrong with keys, times or the order per key. */
  readonly faults: string[];
}

/** What is in the topic of counts, to a reader of committed records. */
export async function readCounts(oracle: Oracle, topic: string): Promise<Found> {
  await oracle.settled(topic);
  const records = await oracle.read(topic);
  const counts = records.map(({ value }) => String(value)).sort();
  return { counts, faults: faultsOf(records) };
}

function faultsOf(records: readonly OracleRecord[]): string[] {
  const faults: string[] = [];
  const last = new Map<string, { partition: number; windowStart: number }>();
  for (const { partition, offset, key, value, timestamp } of records) {
    const { word, windowStart } = JSON.parse(String(value)) as { word: string; windowStart: number };
    const where = `${word} at ${partition}/${offset}`;
    const before = last.get(word);
    if (String(key) !== word) faults.push(`${where} has key ${key}`);
    if (timestamp !== windowStart + windowMs - 1) faults.push(`${where} has time ${timestamp}`);
    if (before && before.partition !== partition) faults.push(`${where} was in partition ${before.partition} before`);
    if (before && before.windowStart >= windowStart) faults.push(`${where} is not after its window before`);
    last.set(word, { partition, windowStart });
  }
  return faults;
}

/** What one sorted list has and the other has not, doubled ones included. */
export function differences(found: readonly string[], expected: readonly string[]) {
  const left = new Map<string, number>();
  for (const one of expected) left.set(one, (left.get(one) ?? 0) + 1);
  const extra = found.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
  return { missing: [...left].filter(([, count]) => count > 0).map(([one]) => one), extra };
}
