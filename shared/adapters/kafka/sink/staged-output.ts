import { createHash, hash } from "node:crypto";
import { objectKey, objectPrefix, parseObjectKey } from "../../../epoch/names.ts";
import type { ObjectStore } from "../../../ports/object-store.ts";
import type { SinkContext } from "../../../ports/sink.ts";
import { batchHeaderBytes, hasItsRecords, recordsChecksumIn, splitBatches } from "../record-batch/encode.ts";
import { isTopicName } from "../topic-name.ts";
import { invalidHandle, type OutputPlace, otherTopic, stagedLost } from "./errors.ts";
import { laneOf } from "./lane-names.ts";
import type { TopicOutput } from "./topic-output.ts";

/** A partition's part of what is staged: its batches lie one after the other. */
export type StagedPartition = readonly [partition: number, bytes: number, records: number, batches: number];
/** Topics by name, and their partitions by number, in the order of their bytes. */
export type StagedTopic = readonly [topic: string, partitions: readonly StagedPartition[]];

/**
 * One lane's part of an object, from `start` on. Its digest is `headers:` and, in hexadecimal, the SHA-256 of the headers of its batches, in each of which is the check sum of
 * its records: so what is staged is read once, and a check sum of a batch as it is sent need not be made from all of it again. Without that word it is the SHA-256 of all bytes, as
 * earlier versions made it.
 */
export type StagedRange = {
  readonly object: string;
  readonly start: number;
  readonly bytes: number;
  readonly digest: string;
  readonly topics: readonly StagedTopic[];
};

/** Where the lane's marker is. `id`: of the topic when the rows were staged, if they are for that topic alone; else null. */
export type MarkerPlace = { readonly topic: string; readonly id: string | null };

/** What a task has pre-committed, as the ledger holds it. */
export type PreparedOutput = {
  readonly marker: MarkerPlace;
  readonly lanes: readonly { readonly lane: number; readonly range: StagedRange }[];
};

export type OwnOutput = OutputPlace & { readonly uid: string };

/** A batch for its partition. */
export interface TargetBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
  readonly records: number;
  /** CRC-32C of its records, where it is known. */
  readonly checksum?: number;
}

const ofHeaders = "headers:";

/**
 * Puts a task's output into one object, lane by lane, so that each lane reads its part in one piece. The parts are given to the store as they are, and not put
 * together in memory.
 *
 * @param markerPlace asked while the object is written
 */
export async function stage(
  objects: ObjectStore,
  context: SinkContext,
  outputs: readonly TopicOutput[],
  laneCount: number,
  markerPlace: () => Promise<MarkerPlace>,
): Promise<PreparedOutput | undefined> {
  const object = objectKey({ ...context, nonce: `${context.nonce}.${context.sink}` }, "staged");
  const chunks: Buffer[] = [];
  const lanes = [];
  let start = 0;
  for (let lane = 0; lane < laneCount; lane++) {
    const sha = createHash("sha256");
    const topics: StagedTopic[] = [];
    let bytes = 0;
    for (const { topic, partitions } of outputs) {
      const mine = partitions.filter(({ partition }) => laneOf(topic.name, partition, laneCount) === lane);
      for (const one of mine) {
        for (const batch of one.batches) sha.update(batch.subarray(0, batchHeaderBytes));
        chunks.push(...one.batches);
        bytes += one.bytes;
      }
      const staged = mine.map((one) => [one.partition, one.bytes, one.records, one.batches.length] as const);
      if (staged.length > 0) topics.push([topic.name, staged]);
    }
    if (bytes > 0) lanes.push({ lane, range: { object, start, bytes, digest: ofHeaders + sha.digest("hex"), topics } });
    start += bytes;
  }
  if (chunks.length === 0) return undefined;
  const [marker] = await Promise.all([markerPlace(), objects.put(object, chunks, { durable: true })]);
  return { marker, lanes };
}

/** How a lane's part of an object is read. */
export interface StagedReading {
  /** Where it lies in memory, if the store can read into what it is given. */
  readonly into: Buffer;
  /**
   * All records are checked, too, against the sums that they were staged with. Without it they are checked by the broker: each batch is sent with the sum that its encoder made, and
   * one that has other records is refused, with all of its transaction. What is wrong is known only to whoever looks.
   */
  readonly thoroughly: boolean;
}

/** Reads a lane's part of an object. @throws LossError if it is not there, or not what it was */
export async function readStaged(
  objects: ObjectStore,
  place: OutputPlace,
  range: StagedRange,
  { into, thoroughly }: StagedReading,
): Promise<TargetBatch[]> {
  const { object, start, bytes: length } = range;
  const found = await objects.get(object, { start, end: start + length }, into);
  if (found === undefined) throw stagedLost("staged-missing", place, object);
  const bytes = Buffer.from(found.buffer, found.byteOffset, found.byteLength);
  const batches = bytes.length === length && batchesIn(bytes, range);
  if (batches && isWhatWasStaged(bytes, batches, range.digest, thoroughly)) return batches;
  throw stagedLost("staged-damaged", place, object);
}

function batchesIn(bytes: Buffer, { topics, digest }: StagedRange): TargetBatch[] | undefined {
  const batches: TargetBatch[] = [];
  let at = 0;
  for (const [topic, partitions] of topics)
    for (const [partition, size, , count] of partitions) {
      const split = splitBatches(bytes.subarray(at, at + size));
      if (split?.length !== count) return undefined;
      for (const one of split)
        batches.push({
          topic,
          partition,
          ...one,
          ...(digest.startsWith(ofHeaders) && { checksum: recordsChecksumIn(one.batch) }),
        });
      at += size;
    }
  return at === bytes.length ? batches : undefined;
}

function isWhatWasStaged(bytes: Buffer, batches: readonly TargetBatch[], digest: string, thoroughly: boolean): boolean {
  if (!digest.startsWith(ofHeaders)) return hash("sha256", bytes) === digest;
  const sha = createHash("sha256");
  for (const { batch } of batches) sha.update(batch.subarray(0, batchHeaderBytes));
  if (ofHeaders + sha.digest("hex") !== digest) return false;
  return !thoroughly || batches.every(({ batch }) => hasItsRecords(batch));
}

const isWhole = (value: unknown, least = 0): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least;

/**
 * The ledger's word is not trusted to name this sink's objects and topic.
 *
 * @param topic the sink's, where that is fixed
 * @throws LossError `handle-invalid`; `kafka-other-topic` if the sink has another topic than it had
 */
export function checkRange(place: OwnOutput, range: StagedRange, topic: string | undefined): StagedRange {
  const { object, start, bytes, digest, topics } = range ?? {};
  const isMine =
    typeof object === "string" &&
    object.startsWith(objectPrefix(place.pipeline, place.uid)) &&
    object.endsWith(`.${place.sink}.staged`) &&
    parseObjectKey(object)?.epoch === place.epoch;
  if (!isMine) throw invalidHandle(place, "its object is another's");
  if (!isWhole(start) || !isWhole(bytes, 1) || typeof digest !== "string" || !Array.isArray(topics))
    throw invalidHandle(place, "a part of an object is not described as one");
  for (const one of topics as unknown[]) {
    const [name, partitions] = (Array.isArray(one) ? one : []) as unknown[];
    if (typeof name !== "string" || !isTopicName(name) || !Array.isArray(partitions))
      throw invalidHandle(place, "a topic is not described as one");
    if (topic !== undefined && name !== topic) throw otherTopic(place, name, topic);
    if (
      !partitions.every((part) => Array.isArray(part) && part.length === 4 && part.every((number) => isWhole(number)))
    )
      throw invalidHandle(place, "a partition is not described as one");
  }
  return range;
}
