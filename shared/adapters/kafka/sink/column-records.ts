import { JsonColumns } from "../../../json-bytes/columns.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { pointerOf, tokensOf } from "../../../pipeline/pointer.ts";
import type { ColumnRows, TextColumn } from "../../../ports/columns.ts";
import type { RecordParts } from "../record-batch/encode.ts";

/** Records of rows in columns, where a record is a row's JSON under a text of the row, and nothing about it asks a function of the user's. */
export class ColumnRecords {
  readonly topic: string;
  readonly #keyField: string;
  readonly value = new JsonColumns();
  #keys: TextColumn | undefined;

  private constructor(topic: string, keyField: string) {
    this.topic = topic;
    this.#keyField = keyField;
  }

  /** Undefined if the sink's settings need rows. */
  static of<T>({ topic, key, timestamp }: KafkaSinkSettings<T>): ColumnRecords | undefined {
    const pointer = pointerOf(key);
    if (typeof topic !== "string" || typeof pointer !== "string" || timestamp !== undefined) return undefined;
    const [field, ...inner] = tokensOf("key", pointer);
    return field === undefined || inner.length > 0 ? undefined : new ColumnRecords(topic, field);
  }

  /** @returns whether the rows that follow have a text for a key */
  begin(columns: ColumnRows): boolean {
    const keys = columns.fields.find(({ name }) => name === this.#keyField)?.column;
    if (keys === undefined || !("ends" in keys)) return false;
    this.#keys = keys;
    this.value.begin(columns);
    return true;
  }

  /** The record is that of the row with this number from here on. */
  setKey(record: RecordParts, row: number): void {
    const { bytes, ends } = this.#keys!;
    record.key = bytes;
    record.keyStart = ends[row]!;
    record.keyBytes = ends[row + 1]! - record.keyStart;
    this.value.row = row;
  }
}
