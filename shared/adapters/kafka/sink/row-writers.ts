import { JsonRow } from "../../../json-bytes/rows.ts";
import type { KafkaSinkSettings } from "../../../pipeline/connectors/kafka.ts";
import { BatchBuffers } from "../record-batch/batch-buffers.ts";
import { ColumnRecords } from "./column-records.ts";
import { TextRecords } from "./text-records.ts";

/** What all tasks of a sink in this process have in common: memory of batches, and writers that know the fields of rows. These keep nothing of a row between two calls. */
export class RowWriters<T> {
  readonly buffers = new BatchBuffers();
  /** Writes a row's JSON where that is the record's value, and nothing about the record asks a function of the user's after the value. */
  readonly json: JsonRow | undefined;
  readonly columns: ColumnRecords | undefined;
  readonly texts: TextRecords | undefined;

  constructor(settings: KafkaSinkSettings<T>) {
    const { value, headers, partition } = settings;
    const writes = value.isJson === true && headers === undefined && partition === undefined;
    this.json = writes ? new JsonRow() : undefined;
    this.columns = writes ? ColumnRecords.of(settings) : undefined;
    this.texts = TextRecords.of(settings);
  }
}
