import type { MeasuredRowWriter } from "../../../json-bytes/rows.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { isPlainText } from "../../../pipeline/decoders/text.ts";
import type { TextRows } from "../../../ports/columns.ts";
import type { RecordParts } from "../record-batch/encode.ts";
import { keylessHash, placeOf } from "./partitioner.ts";
import type { TopicOutput } from "./topic-output.ts";

const noBytes = Buffer.alloc(0);
const noTexts: TextRows = {
  ...{ length: 0, bytes: noBytes, starts: new Int32Array(), ends: new Int32Array(), times: new Float64Array() },
  rows: () => [],
};

/** Records of rows that are texts, where a record is the text without a key, and nothing about it asks a function of the user's. */
export class TextRecords implements MeasuredRowWriter {
  readonly topic: string;
  readonly #record: RecordParts;
  #texts = noTexts;
  #start = 0;
  #end = 0;

  private constructor(topic: string) {
    this.topic = topic;
    const parts = { key: noBytes, keyStart: 0, keyBytes: -1, headers: noBytes };
    this.#record = { timestamp: Number.NaN, ...parts, value: this };
  }

  /** Undefined if the sink's settings need strings. */
  static of<T>(settings: KafkaSinkSettings<T>): TextRecords | undefined {
    const { topic, value, key, headers, partition, timestamp } = settings;
    const asks = [key, headers, partition, timestamp].some((one) => one !== undefined);
    return typeof topic === "string" && isPlainText(value) && !asks ? new TextRecords(topic) : undefined;
  }

  /** @param headers of each record, encoded */
  begin(texts: TextRows, headers: Uint8Array): void {
    this.#texts = texts;
    this.#record.headers = headers;
  }

  /**
   * Adds records of the rows from one on. Returns the first row of which nothing is added, since something about it is for others to refuse; the number of rows if there is none.
   *
   * @param mostTime latest time that the topic takes
   */
  addFrom(first: number, mostTime: number, output: TopicOutput): number {
    const { length } = this.#texts;
    for (let row = first; row < length; row++) if (!this.#add(row, mostTime, output)) return row;
    return length;
  }

  measure(): number {
    return this.#end - this.#start;
  }

  put(bytes: Buffer, at: number): number {
    return at + this.#texts.bytes.copy(bytes, at, this.#start, this.#end);
  }

  write(bytes: Buffer, at: number, limit: number): number {
    return at + this.measure() <= limit ? this.put(bytes, at) : -1;
  }

  #add(row: number, mostTime: number, output: TopicOutput): boolean {
    const { bytes, starts, ends, times } = this.#texts;
    const time = times[row]!;
    const timestamp = Math.floor(time);
    if (!(time >= 0 && timestamp <= mostTime)) return false;
    this.#start = starts[row]!;
    this.#end = ends[row]!;
    const record = this.#record;
    record.timestamp = timestamp;
    const hash = keylessHash(bytes, this.#start, this.#end, timestamp);
    const partition = placeOf(hash, output.topic.partitions);
    const encoder = output.encoders[partition];
    if (encoder?.addNext(record, this, this.measure(), output.mostBytes)) return true;
    const size = output.add(partition, record);
    return size >= 0 && size <= output.topic.mostBatchBytes;
  }
}
