import { UserCodeError } from "../../../errors.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import type { RefusedRow, RowBatch, SinkContext, TimeOfRow, Transaction } from "../../../ports/sink.ts";
import type { RecordParts } from "../record-batch/encode.ts";
import { refusedRow } from "./errors.ts";
import { murmur2, placeOf } from "./partitioner.ts";
import { RowFields } from "./row-fields.ts";
import type { TargetTopic, TargetTopics } from "./target-topics.ts";
import { TopicOutput } from "./topic-output.ts";

const noKey = -1;
const firstKeyCapacity = 256;

/**
 * One task's rows, encoded as they come into record batches of their target partitions. They stay in memory until they are staged: an epoch is planned to be
 * small enough for that, and a batch is compressed as soon as it is full.
 */
export class StagedRows<T> implements Transaction<T> {
  readonly context: SinkContext;
  readonly #settings: KafkaSinkSettings<T>;
  readonly #topics: TargetTopics;
  readonly #fields: RowFields<T>;
  readonly #outputs = new Map<string, TopicOutput>();
  readonly #record: RecordParts = {
    timestamp: 0,
    key: Buffer.allocUnsafeSlow(firstKeyCapacity),
    keyBytes: noKey,
    value: null,
    headers: new Uint8Array(),
  };

  constructor(settings: KafkaSinkSettings<T>, topics: TargetTopics, context: SinkContext) {
    this.#settings = settings;
    this.#topics = topics;
    this.context = context;
    this.#fields = new RowFields(settings, context);
  }

  write(rows: RowBatch<T>, refused?: RefusedRow, timeOf?: TimeOfRow): void {
    for (let index = 0; index < rows.length; ) {
      try {
        for (; index < rows.length; index++) this.#add(rows[index]!, timeOf?.(index));
      } catch (error) {
        if (refused === undefined || !(error instanceof UserCodeError)) throw error;
        refused(index++, error);
      }
    }
  }

  /** Nothing is written before all is: see above. */
  async drained(): Promise<void> {}

  async discard(): Promise<void> {
    this.#outputs.clear();
  }

  /** By the names of their topics; what was not written to is not there. */
  finish(): TopicOutput[] {
    const outputs = [...this.#outputs.values()].sort((one, other) => (one.topic.name < other.topic.name ? -1 : 1));
    for (const output of outputs) output.finish();
    return outputs;
  }

  #add(row: T, eventTime: number | undefined): void {
    const record = this.#record;
    const fields = this.#fields;
    const output = this.#outputOf(fields.topic(row));
    record.timestamp = fields.timestamp(row, eventTime);
    this.#setKey(fields.key(row));
    record.value = fields.value(row);
    record.headers = fields.headers(row);
    this.#check(output.topic);
    const { partitions } = output.topic;
    const partition = fields.partition(row, partitions) ?? placeOf(this.#hash(), partitions);
    const size = output.add(partition, record);
    if (size > output.topic.mostBatchBytes) throw this.#tooLarge(output.topic, size);
  }

  #outputOf(name: string): TopicOutput {
    const known = this.#outputs.get(name);
    if (known) return known;
    const topic = this.#topics.get(name);
    if (topic === undefined) throw this.#noTopic(name);
    const output = new TopicOutput(topic, this.#settings.compression);
    this.#outputs.set(name, output);
    return output;
  }

  #setKey(key: string | Uint8Array | null): void {
    const record = this.#record;
    if (key === null) {
      record.keyBytes = noKey;
      return;
    }
    if (3 * key.length > record.key.length) record.key = Buffer.allocUnsafeSlow(6 * key.length);
    if (typeof key === "string") record.keyBytes = record.key.write(key, 0);
    else {
      record.key.set(key);
      record.keyBytes = key.length;
    }
  }

  /**
   * A key's partition is Java's. A record without a key goes by its value and its time: anything else would depend on how rows are cut into tasks and
   * batches (I6).
   */
  #hash(): number {
    const { key, keyBytes, value, timestamp } = this.#record;
    if (keyBytes !== noKey) return murmur2(key, keyBytes);
    const bytes =
      value === null ? Buffer.alloc(0) : typeof value === "string" ? Buffer.from(value) : Buffer.from(value);
    return murmur2(bytes) ^ Math.imul(timestamp, 0x9e3779b1);
  }

  #check({ name, compacted, mostAheadMs }: TargetTopic): void {
    const { keyBytes, timestamp } = this.#record;
    if (compacted && keyBytes === noKey)
      throw refusedRow("kafka-row-key", this.context, `a row has no key, but ${name} is compacted by key`, {
        wayOut: "Set `key` of the sink, or write to a topic whose `cleanup.policy` is `delete`.",
      });
    const { processingTime } = this.context;
    if (processingTime !== undefined && timestamp - processingTime > mostAheadMs)
      throw refusedRow(
        "kafka-row-timestamp",
        this.context,
        `a row's time, ${new Date(timestamp).toISOString()}, is further ahead than ${name} allows: ${mostAheadMs} ms`,
        {
          wayOut:
            "Raise `message.timestamp.after.max.ms` of the topic, or set `timestamp` of the sink to another time.",
        },
      );
  }

  #tooLarge({ name, mostBatchBytes }: TargetTopic, size: number): UserCodeError {
    const reason = `a record of ${size} bytes is too large for ${name}, which takes ${mostBatchBytes} (before compression)`;
    return refusedRow("kafka-record-too-large", this.context, reason, {
      wayOut: "Raise `max.message.bytes` of the topic, or write smaller rows.",
    });
  }

  #noTopic(name: string): UserCodeError {
    return refusedRow(
      "kafka-row-topic",
      this.context,
      `the topic ${JSON.stringify(name.slice(0, 249))} of a row does not exist`,
      {
        wayOut: "Create it, or mend `topic` of the sink.",
      },
    );
  }
}
