import type { ColumnRows, TextColumn } from "../ports/columns.ts";
import { copyBytes } from "../utf8.ts";
import { mostNumberBytes, writeNumber } from "./number.ts";
import { closeObject, objectBytes, prefixOf, type RowWriter, writeField } from "./rows.ts";
import { mostTextBytes, writeUtf8Text } from "./text.ts";

/** Numbers from here on take longer to write than to copy. */
const longNumber = 1e8;

/** A column by what it holds: one of the three is there. */
interface Field {
  readonly name: string;
  readonly prefix: Buffer;
  texts: TextColumn | undefined;
  numbers: Float64Array | undefined;
  values: readonly unknown[] | undefined;
  /** The last long number, and the field with it: times of windows come again and again. */
  last: number;
  readonly written: Buffer;
  writtenBytes: number;
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
        last: Number.NaN,
        written: Buffer.alloc(prefixOf(name).length + mostNumberBytes),
        writtenBytes: 0,
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
      const field = this.#fields[index]!;
      const { prefix, texts, numbers, values } = field;
      const room = limit - end - prefix.length - objectBytes;
      if (numbers !== undefined) {
        if (room < mostNumberBytes) return -1;
        end = writeNumberField(bytes, end, field, numbers[row]!);
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

function writeNumberField(bytes: Buffer, at: number, field: Field, number: number): number {
  if (number === field.last) return copyBytes(bytes, at, field.written, 0, field.writtenBytes);
  const { prefix } = field;
  const end = writeNumber(bytes, copyBytes(bytes, at, prefix, 0, prefix.length), number);
  if (number >= longNumber) {
    field.last = number;
    field.writtenBytes = copyBytes(field.written, 0, bytes, at, end);
  }
  return end;
}
