import assert from "node:assert/strict";
import type { KnownPartition, PartitionStatus, Source, SourceRange } from "../ports/source.ts";

/** An input of a source, as the conformance suite needs it. */
export interface SourceUnderTest {
  /** A new instance on the same input, as a process started anew has it. */
  open(): Source;
  /** Adds records to a partition, which is made if it is not there. Values have no line ends. */
  append(partition: string, values: readonly string[]): Promise<void>;
  /** False: a partition is written once, so `append` is called once for each. */
  readonly grows?: false;
  /** False: a range is read in one piece, so `split` gives none. */
  readonly splits?: false;
  close(): Promise<void>;
}

/** Adds a test, with an input of its own. */
export type Check<T = SourceUnderTest> = (title: string, body: (input: T) => Promise<void>) => void;

export function wholeRange({ id, identity, start, end }: PartitionStatus): SourceRange {
  return { id, identity, from: start, to: end };
}

/** Its partitions, without what else it has to remember. */
export async function partitionsOf(source: Source, before: readonly KnownPartition[] = []): Promise<PartitionStatus[]> {
  return (await source.discover(before)).filter(({ isRecord }) => !isRecord);
}

/** The only partition of an input. */
export async function single(source: Source, before: readonly KnownPartition[] = []): Promise<PartitionStatus> {
  const partitions = await partitionsOf(source, before);
  assert.equal(partitions.length, 1);
  return partitions[0]!;
}

/** All records of a range, copied, since buffers are reused. Checks what every batch must keep. */
export async function recordsOf(source: Source, range: SourceRange): Promise<{ offset: number; value: string }[]> {
  const records: { offset: number; value: string }[] = [];
  let next = range.from;
  for await (const batch of source.read(range)) {
    const { bytes, count, valueStart, valueEnd, offsets } = batch;
    for (let row = 0; row < count; row += 1) {
      const offset = offsets[row]!;
      assert.ok(offset >= next && offset < batch.next, "an offset lies between those of the batches around");
      records.push({ offset, value: bytes.toString("utf8", valueStart[row]!, valueEnd[row]!) });
    }
    next = batch.next;
  }
  assert.ok(next >= range.to || range.from === range.to, "everything below `to` was delivered");
  return records;
}

export async function readValues(source: Source, range: SourceRange): Promise<string[]> {
  return (await recordsOf(source, range)).map(({ value }) => value);
}

/** Whole numbers below a bound, the same in each run (a linear congruential generator). */
export function pseudoRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
