import { UserCodeError } from "../../../errors.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import type { ColumnRows, TextRows } from "../../../ports/columns.ts";
import type { RefusedRow, RowBatch, SinkContext, TimeOfRow, Transaction } from "../../../ports/sink.ts";
import { copyBytes, writeUtf8 } from "../../../utf8.ts";
import type { RecordParts } from "../record-batch/encode.ts";
import { refusedRow } from "./errors.ts";
import { keylessHash, murmur2, placeOf } from "./partitioner.ts";
import { latestTime, RowFields } from "./row-fields.ts";
import type { RowWriters } from "./row-writers.ts";
import type { TargetTopic, TargetTopics } from "./target-topics.ts";
import { TopicOutput } from "./topic-output.ts";

const noKey = -1;
const firstKeyCapacity = 256;
const noBytes = new Uint8Array();

/**
 * One task's rows, encoded as they come into record batches of their target partitions. They stay in memory until they are staged: an epoch is planned to be
 * small enough for that, and a batch is compressed as soon as it is full.
 */
export class StagedRows<T> implements Transaction<T> {
  readonly context: SinkContext;
  readonly #settings: KafkaSinkSettings<T>;
  readonly #topics: TargetTopics;
  readonly #writers: RowWriters<T>;
  readonly #fields: RowFields<T>;
  readonly #outputs = new Map<string, TopicOutput>();
  /** The row that is added, or has just failed. */
  #adding = 0;
  #key = Buffer.allocUnsafeSlow(firstKeyCapacity);
  readonly #record: RecordParts = {
    timestamp: Number.NaN,
    key: this.#key,
    keyStart: 0,
    keyBytes: noKey,
    value: null,
    headers: noBytes,
  };

  constructor(settings: KafkaSinkSettings<T>, topics: TargetTopics, writers: RowWriters<T>, context: SinkContext) {
    this.#settings = settings;
    this.#topics = topics;
    this.#writers = writers;
    this.context = context;
    this.#fields = new RowFields(settings, context);
  }

  write(rows: RowBatch<T>, refused?: RefusedRow, timeOf?: TimeOfRow): void {
    for (let next = 0; next < rows.length; ) {
      try {
        this.#addFrom(rows, next, timeOf);
        next = rows.length;
      } catch (error) {
        if (refused === undefined || !(error instanceof UserCodeError)) throw error;
        const failed = this.#adding;
        next = failed + 1;
        refused(failed, error);
      }
    }
  }

  writeColumns(columns: ColumnRows<T>, refused?: RefusedRow): void {
    const { columns: records } = this.#writers;
    const output = records && this.#outputOf(records.topic);
    if (output === undefined || !records?.begin(columns, this.#fields.commonHeaders)) {
      this.write(columns.rows(), refused, (row) => columns.times[row]!);
      return;
    }
    const mostTime = this.#mostTimeOf(output.topic);
    const { length } = columns;
    for (let row = records.addFrom(0, columns, mostTime, output); row < length; ) {
      this.#writeRow(columns, row, refused);
      row = records.addFrom(row + 1, columns, mostTime, output);
    }
  }

  #writeRow(columns: ColumnRows<T>, row: number, refused: RefusedRow | undefined): void {
    this.write([columns.rows()[row]!], refused && ((_, error) => refused(row, error)), () => columns.times[row]!);
  }

  writeTexts(texts: TextRows, refused?: RefusedRow): void {
    const { texts: records } = this.#writers;
    const output = records && this.#outputOf(records.topic);
    if (output === undefined || output.topic.compacted) {
      this.#writeTexts(texts, 0, texts.length, refused);
      return;
    }
    const mostTime = this.#mostTimeOf(output.topic);
    records!.begin(texts, this.#fields.commonHeaders);
    for (let row = records!.addFrom(0, mostTime, output); row < texts.length; ) {
      this.#writeTexts(texts, row, row + 1, refused);
      row = records!.addFrom(row + 1, mostTime, output);
    }
  }

  /** Rows `[from, to)` as any others. */
  #writeTexts(texts: TextRows, from: number, to: number, refused: RefusedRow | undefined): void {
    const rows = texts.rows().slice(from, to) as T[];
    const refusedHere: RefusedRow | undefined = refused && ((row, error) => refused(from + row, error));
    this.write(rows, refusedHere, (row) => texts.times[from + row]!);
  }

  /** Nothing later is taken without a look. */
  #mostTimeOf({ mostAheadMs }: TargetTopic): number {
    const { processingTime } = this.context;
    return processingTime === undefined ? latestTime : Math.min(latestTime, processingTime + mostAheadMs);
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

  /** What was given by `finish` is not looked at any more. */
  release(): void {
    for (const output of this.#outputs.values()) output.release();
    this.#outputs.clear();
  }

  /** A function of its own, with nothing behind its loop: V8 need not compile it anew at each end of it. */
  #addFrom(rows: RowBatch<T>, first: number, timeOf: TimeOfRow | undefined): void {
    for (let index = first; index < rows.length; index++) {
      this.#adding = index;
      this.#add(rows[index]!, timeOf?.(index));
    }
  }

  #add(row: T, eventTime: number | undefined): void {
    const record = this.#record;
    const fields = this.#fields;
    const name = fields.topic(row);
    const output = this.#outputOf(name);
    if (output === undefined) throw this.#noTopic(name);
    record.timestamp = fields.timestamp(row, eventTime);
    this.#setKey(fields.key(row));
    if (this.#addWritten(output, row)) return;
    record.value = fields.value(row);
    record.headers = fields.headers(row);
    this.#check(output.topic);
    const { partitions } = output.topic;
    this.#put(output, fields.partition(row, partitions) ?? placeOf(this.#hash(), partitions));
  }

  /** Adds a record with a key whose value writes itself. False: it cannot, or what is wrong with the record is to be found out in order. */
  #addWritten(output: TopicOutput, row: T): boolean {
    const record = this.#record;
    const { json } = this.#writers;
    if (json === undefined || record.keyBytes === noKey || this.#isAhead(output.topic)) return false;
    json.row = row;
    record.value = json;
    record.headers = this.#fields.commonHeaders;
    return this.#put(output, placeOf(this.#hash(), output.topic.partitions));
  }

  /** False: the value cannot write itself, and nothing is added. */
  #put(output: TopicOutput, partition: number): boolean {
    const size = output.add(partition, this.#record);
    if (size > output.topic.mostBatchBytes) throw this.#tooLarge(output.topic, size);
    return size >= 0;
  }

  #outputOf(name: string): TopicOutput | undefined {
    const known = this.#outputs.get(name);
    if (known) return known;
    const topic = this.#topics.get(name);
    if (topic === undefined) return undefined;
    const output = new TopicOutput(topic, this.#settings.compression, this.#writers.buffers);
    this.#outputs.set(name, output);
    return output;
  }

  #setKey(key: string | Uint8Array | null): void {
    const record = this.#record;
    if (key === null) {
      record.keyBytes = noKey;
      return;
    }
    if (3 * key.length > this.#key.length) this.#key = Buffer.allocUnsafeSlow(6 * key.length);
    record.key = this.#key;
    record.keyStart = 0;
    record.keyBytes =
      typeof key === "string" ? writeUtf8(record.key, 0, key) : copyBytes(record.key, 0, key, 0, key.length);
  }

  /** A key's partition is Java's. */
  #hash(): number {
    const { key, keyStart, keyBytes, value, timestamp } = this.#record;
    if (keyBytes !== noKey) return murmur2(key, keyStart, keyStart + keyBytes);
    const bytes =
      typeof value === "string" ? Buffer.from(value) : Buffer.from(value instanceof Uint8Array ? value : []);
    return keylessHash(bytes, 0, bytes.length, timestamp);
  }

  #isAhead({ mostAheadMs }: TargetTopic): boolean {
    const { processingTime } = this.context;
    return processingTime !== undefined && this.#record.timestamp - processingTime > mostAheadMs;
  }

  #check(topic: TargetTopic): void {
    const { name, compacted, mostAheadMs } = topic;
    const { keyBytes, timestamp } = this.#record;
    if (compacted && keyBytes === noKey)
      throw refusedRow("kafka-row-key", this.context, `a row has no key, but ${name} is compacted by key`, {
        wayOut: "Set `key` of the sink, or write to a topic whose `cleanup.policy` is `delete`.",
      });
    if (this.#isAhead(topic))
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
