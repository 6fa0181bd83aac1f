import type { ColumnRows } from "../ports/columns.ts";
import { JsonColumn } from "./column.ts";
import { closeObject, type MeasuredRowWriter, objectBytes } from "./rows.ts";

/** Writes rows that are columns, byte for byte as `JSON.stringify` gives the objects. */
export class JsonColumns implements MeasuredRowWriter {
  /** The row that is written next. */
  row = 0;
  #columns: readonly JsonColumn[] = [];

  /** Rows of these follow. */
  begin({ fields, length }: Pick<ColumnRows, "fields" | "length">): void {
    const isSame =
      fields.length === this.#columns.length && fields.every(({ name }, at) => this.#columns[at]!.name === name);
    if (!isSame) this.#columns = fields.map(({ name }) => new JsonColumn(name));
    for (const [at, { column }] of fields.entries()) this.#columns[at]!.begin(column, length);
  }

  measure(): number {
    const columns = this.#columns;
    let size = 0;
    for (let index = 0; index < columns.length; index++) {
      const field = columns[index]!.measure(this.row);
      if (field < 0) return -1;
      size += field;
    }
    // The comma before the first field is the brace.
    return size === 0 ? objectBytes : size + 1;
  }

  put(bytes: Buffer, at: number): number {
    const columns = this.#columns;
    let end = at;
    for (let index = 0; index < columns.length; index++) end = columns[index]!.put(bytes, end, this.row);
    return closeObject(bytes, at, end);
  }

  write(bytes: Buffer, at: number, limit: number): number {
    const size = this.measure();
    return size < 0 || size > limit - at ? -1 : this.put(bytes, at);
  }
}
