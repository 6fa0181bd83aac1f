import { JsonColumns } from "../../../json-bytes/columns.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { pointerOf, tokensOf } from "../../../pipeline/pointer.ts";
import type { ColumnRows, TextColumn } from "../../../ports/columns.ts";
import type { RecordParts } from "../record-batch/encode.ts";
import { murmur2, placeOf } from "./partitioner.ts";
import { latestTime } from "./row-fields.ts";
import type { TopicOutput } from "./topic-output.ts";

const noBytes = Buffer.alloc(0);

/** Records of rows in columns, where a record is a row's JSON under a text of the row, and nothing about it asks a function of the user's. */
export class ColumnRecords {
  readonly topic: string;
  readonly #keyField: string;
  readonly #json = new JsonColumns();
  readonly #record: RecordParts;
  #keys: TextColumn = { bytes: noBytes, ends: new Int32Array(1) };

  private constructor(topic: string, keyField: string, headers: Uint8Array) {
    this.topic = topic;
    this.#keyField = keyField;
    this.#record = { timestamp: Number.NaN, key: noBytes, keyStart: 0, keyBytes: 0, value: this.#json, headers };
  }

  /** Undefined if the sink's settings need rows. @param headers of each record, encoded */
  static of<T>({ topic, key, timestamp }: KafkaSinkSettings<T>, headers: Uint8Array): ColumnRecords | undefined {
    const pointer = pointerOf(key);
    if (typeof topic !== "string" || typeof pointer !== "string" || timestamp !== undefined) return undefined;
    const [field, ...inner] = tokensOf("key", pointer);
    return field === undefined || inner.length > 0 ? undefined : new ColumnRecords(topic, field, headers);
  }

  /** @returns whether the rows that follow have a text for a key */
  begin(columns: ColumnRows): boolean {
    const keys = columns.fields.find(({ name }) => name === this.#keyField)?.column;
    if (keys === undefined || !("ends" in keys)) return false;
    this.#keys = keys;
    this.#json.begin(columns);
    return true;
  }

  /**
   * Adds a row's record. False: nothing is added, since something about the row is for others to write or to refuse.
   *
   * @param mostTime latest time that the topic takes
   */
  add(row: number, time: number, mostTime: number, output: TopicOutput): boolean {
    const timestamp = Math.floor(time);
    if (!(time >= 0 && time <= latestTime && timestamp <= mostTime)) return false;
    const { bytes, ends } = this.#keys;
    const record = this.#record;
    record.timestamp = timestamp;
    record.key = bytes;
    record.keyStart = ends[row]!;
    record.keyBytes = ends[row + 1]! - record.keyStart;
    this.#json.row = row;
    const { partitions, mostBatchBytes } = output.topic;
    const size = output.add(placeOf(murmur2(bytes, ends[row], ends[row + 1]), partitions), record);
    return size >= 0 && size <= mostBatchBytes;
  }
}
