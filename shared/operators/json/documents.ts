import type { Origin } from "../origin.ts";
import type { Fields, Values } from "../values.ts";
import type { DocumentReader } from "./document-reader.ts";
import { type Field, found } from "./fields.ts";

/**
 * Values that are documents of JSON, still as bytes, with the fields that the pipeline asks for. Who asks for values gets whole ones, which are made once; late
 * records and dead letters do. All of it is good until the next batch.
 */
export class Documents implements Values, Fields {
  readonly origin: Origin;
  readonly bytes: Buffer;
  readonly rows: Int32Array;
  readonly count: number;
  readonly #reader: DocumentReader;
  readonly #columns = new Map<string, readonly unknown[] | Float64Array>();
  #values: unknown[] | undefined;

  constructor(origin: Origin, bytes: Buffer, rows: Int32Array, count: number, reader: DocumentReader) {
    this.origin = origin;
    this.bytes = bytes;
    this.rows = rows;
    this.count = count;
    this.#reader = reader;
  }

  get fields(): Fields {
    return this;
  }

  get values(): unknown[] {
    this.#values ??= Array.from({ length: this.count }, (_, index) => this.#reader.value(this.bytes, index));
    return this.#values;
  }

  /** Where a pointer's texts are, if each document has one there, and none has escapes. */
  texts(pointer: string): Pick<Field, "starts" | "ends"> | undefined {
    const field = this.#reader.field(pointer);
    return field.isAll(found.text, this.count) ? field : undefined;
  }

  column(pointer: string): readonly unknown[] | Float64Array {
    let column = this.#columns.get(pointer);
    if (column === undefined) {
      column = this.#reader.field(pointer).column(this.bytes, this.count);
      this.#columns.set(pointer, column);
    }
    return column;
  }
}
