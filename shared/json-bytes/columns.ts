import type { ColumnRows, TextColumn } from "../ports/columns.ts";
import { copyBytes } from "../utf8.ts";
import { mostNumberBytes, writeNumber } from "./number.ts";
import { closeObject, objectBytes, prefixOf, type RowWriter, writeField } from "./rows.ts";
import { mostTextBytes, writeUtf8Text } from "./text.ts";

/** A column by what it holds: one of the three is there. */
interface Field {
  readonly name: string;
  readonly prefix: Buffer;
  texts: TextColumn | undefined;
  numbers: Float64Array | undefined;
  values: readonly unknown[] | undefined;
}

/** Writes rows that are columns, byte for byte as `JSON.stringify` gives the objects. */
export class JsonColumns implements RowWriter {
  /** The row that is written next. */
  row = 0;
  #fields: readonly Field[] = [];

  /** Rows of these follow, from the first on. */
  begin({ fields }: ColumnRows): void {
    const isSame =
      fields.length === this.#fields.length && fields.every(({ name }, at) => this.#fields[at]!.name === name);
    if (!isSame)
      this.#fields = fields.map(({ name }) => ({
        name,
        prefix: prefixOf(name),
        texts: undefined,
        numbers: undefined,
        values: undefined,
      }));
    for (const [at, { column }] of fields.entries()) {
      const field = this.#fields[at]!;
      field.numbers = column instanceof Float64Array ? column : undefined;
      field.texts = "ends" in column ? column : undefined;
      field.values = Array.isArray(column) ? column : undefined;
    }
  }

  write(bytes: Buffer, at: number, limit: number): number {
    const row = this.row;
    let end = at;
    for (let index = 0; index < this.#fields.length; index++) {
      const { prefix, texts, numbers, values } = this.#fields[index]!;
      const room = limit - end - prefix.length - objectBytes;
      if (numbers !== undefined) {
        if (room < mostNumberBytes) return -1;
        end = writeNumber(bytes, copyBytes(bytes, end, prefix, 0, prefix.length), numbers[row]!);
      } else if (texts !== undefined) {
        const [start, stop] = [texts.ends[row]!, texts.ends[row + 1]!];
        if (room < mostTextBytes(stop - start)) return -1;
        end = writeUtf8Text(bytes, copyBytes(bytes, end, prefix, 0, prefix.length), texts.bytes, start, stop);
      } else {
        end = writeField(bytes, end, prefix, values![row], room);
        if (end < 0) return -1;
      }
    }
    return limit - end < objectBytes ? -1 : closeObject(bytes, at, end);
  }
}
