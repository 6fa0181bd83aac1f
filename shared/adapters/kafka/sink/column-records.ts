import { JsonColumns } from "../../../json-bytes/columns.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { pointerOf, tokensOf } from "../../../pipeline/pointer.ts";
import type { ColumnRows, TextColumn } from "../../../ports/columns.ts";
import type { RecordParts } from "../record-batch/encode.ts";
import { murmur2, placeOf } from "./partitioner.ts";
import type { TopicOutput } from "./topic-output.ts";

const noBytes = Buffer.alloc(0);

/** Records of rows in columns, where a record is a row's JSON under a text of the row, and nothing about it asks a function of the user's. */
export class ColumnRecords {
  readonly topic: string;
  readonly #keyField: string;
  readonly #json = new JsonColumns();
  readonly #record: RecordParts;
  #keys: TextColumn = { bytes: noBytes, ends: new Int32Array(1) };

  private constructor(topic: string, keyField: string) {
    this.topic = topic;
    this.#keyField = keyField;
    const parts = { key: noBytes, keyStart: 0, keyBytes: 0, headers: noBytes };
    this.#record = { timestamp: Number.NaN, ...parts, value: this.#json };
  }

  /** Undefined if the sink's settings need rows. */
  static of<T>({ topic, key, timestamp }: KafkaSinkSettings<T>): ColumnRecords | undefined {
    const pointer = pointerOf(key);
    if (typeof topic !== "string" || typeof pointer !== "string" || timestamp !== undefined) return undefined;
    const [field, ...inner] = tokensOf("key", pointer);
    return field === undefined || inner.length > 0 ? undefined : new ColumnRecords(topic, field);
  }

  /**
   * @param headers of each record, encoded
   * @returns whether the rows that follow have a text for a key
   */
  begin(columns: ColumnRows, headers: Uint8Array): boolean {
    const keys = columns.fields.find(({ name }) => name === this.#keyField)?.column;
    if (keys === undefined || !("ends" in keys)) return false;
    this.#keys = keys;
    this.#record.headers = headers;
    this.#json.begin(columns);
    return true;
  }

  /**
   * Adds records of the rows from one on. Returns the first row of which nothing is added, since something about it is for others to write or to refuse; `length` if there is none.
   *
   * @param mostTime latest time that the topic takes
   */
  addFrom(first: number, { length, times }: ColumnRows, mostTime: number, output: TopicOutput): number {
    for (let row = first; row < length; row++) if (!this.#add(row, times[row]!, mostTime, output)) return row;
    return length;
  }

  #add(row: number, time: number, mostTime: number, output: TopicOutput): boolean {
    const timestamp = Math.floor(time);
    if (!(time >= 0 && timestamp <= mostTime)) return false;
    const { bytes, ends } = this.#keys;
    const start = ends[row]!;
    const end = ends[row + 1]!;
    const record = this.#record;
    record.timestamp = timestamp;
    record.key = bytes;
    record.keyStart = start;
    record.keyBytes = end - start;
    const json = this.#json;
    json.row = row;
    const valueBytes = json.measure();
    if (valueBytes < 0) return false;
    const partition = placeOf(murmur2(bytes, start, end), output.topic.partitions);
    const encoder = output.encoders[partition];
    if (encoder?.addNext(record, json, valueBytes, output.mostBytes)) return true;
    const size = output.add(partition, record);
    return size >= 0 && size <= output.topic.mostBatchBytes;
  }
}
