import type { KafkaCompression } from "../../../pipeline/connectors/kafka.ts";
import type { BatchBuffers } from "../record-batch/batch-buffers.ts";
import { BatchEncoder, type RecordParts } from "../record-batch/encode.ts";
import type { TargetTopic } from "./target-topics.ts";

/** Size of a batch, uncompressed, that is large enough to compress well, and small enough to be one of many. */
const goodBatchBytes = 256 * 1024;

/** What a task has for one partition. */
export interface PartitionOutput {
  readonly partition: number;
  readonly batches: Buffer[];
  bytes: number;
  records: number;
}

/** What a task has for one topic. */
export class TopicOutput {
  readonly topic: TargetTopic;
  /** Bytes of a batch that has more than one record. */
  readonly mostBytes: number;
  /** By partition; where there is none, there is no record yet. */
  readonly encoders: readonly (BatchEncoder | undefined)[];
  readonly #compression: KafkaCompression;
  readonly #buffers: BatchBuffers;
  readonly #encoders: (BatchEncoder | undefined)[];
  readonly #outputs: PartitionOutput[] = [];

  constructor(topic: TargetTopic, compression: KafkaCompression, buffers: BatchBuffers) {
    this.topic = topic;
    this.#compression = compression;
    this.#buffers = buffers;
    this.mostBytes = Math.min(goodBatchBytes, topic.mostBatchBytes);
    this.#encoders = Array.from({ length: topic.partitions }, () => undefined);
    this.encoders = this.#encoders;
  }

  /** Adds a record, unless it is too large for the topic. Returns the bytes of the batch that it is in, or would have been in alone; -1: its value cannot write itself. */
  add(partition: number, record: RecordParts): number {
    const encoder = this.#encoders[partition];
    if (encoder !== undefined && encoder.count > 0) {
      const size = encoder.add(record, this.mostBytes);
      if (size <= this.mostBytes) return size;
    }
    return this.#addFirst(partition, record);
  }

  finish(): void {
    for (const [partition, encoder] of this.#encoders.entries())
      if (encoder !== undefined && encoder.count > 0) this.#take(partition, encoder);
  }

  /** Nobody looks at the batches any more. */
  release(): void {
    for (const encoder of this.#encoders) encoder?.release();
  }

  /** By number; those that have no record are not there. */
  get partitions(): readonly PartitionOutput[] {
    return this.#outputs.filter((output) => output !== undefined);
  }

  /** The record begins a batch: the one before, if there is one, is full. */
  #addFirst(partition: number, record: RecordParts): number {
    this.#encoders[partition] ??= new BatchEncoder(this.#buffers);
    const encoder = this.#encoders[partition];
    if (encoder.count > 0) this.#take(partition, encoder);
    return encoder.add(record, this.topic.mostBatchBytes);
  }

  #take(partition: number, encoder: BatchEncoder): void {
    this.#outputs[partition] ??= { partition, batches: [], bytes: 0, records: 0 };
    const output = this.#outputs[partition];
    output.records += encoder.count;
    const batch = encoder.take(this.#compression);
    output.batches.push(batch);
    output.bytes += batch.length;
  }
}
