import type { RowColumn, TextColumn } from "../ports/columns.ts";
import { copyBytes } from "../utf8.ts";
import { fewDigitsOf, mostNumberBytes, writeDigits, writeNumber } from "./number.ts";
import { prefixOf, writeField } from "./rows.ts";
import { isAsInJson, mostTextBytes, utf8TextBytes, writeUtf8Text } from "./text.ts";

const quote = 0x22;

/** Writes one field of rows in columns. Of a column it has one of three kinds; a text and a number of few digits are written in place, anything else is rendered beforehand. */
export class JsonColumn {
  readonly name: string;
  readonly #prefix: Buffer;
  #texts: TextColumn | undefined;
  /** No text has anything to escape. */
  #areAsInJson = false;
  #numbers: Float64Array | undefined;
  #values: readonly unknown[] = [];
  /** The number that is rendered: times of windows come again and again. */
  #renderedNumber = Number.NaN;
  #rendered: Buffer;
  #renderedBytes = 0;

  constructor(name: string) {
    this.name = name;
    this.#prefix = prefixOf(name);
    this.#rendered = Buffer.alloc(this.#prefix.length + mostNumberBytes);
  }

  /** Rows of this column follow. */
  begin(column: RowColumn, length: number): void {
    this.#texts = "ends" in column ? column : undefined;
    this.#numbers = column instanceof Float64Array ? column : undefined;
    this.#values = Array.isArray(column) ? column : [];
    this.#renderedNumber = Number.NaN;
    if (this.#texts === undefined) return;
    const { bytes, ends } = this.#texts;
    this.#areAsInJson = isAsInJson(bytes, ends[0]!, ends[length]!);
  }

  /** Bytes of the row's field with its name, 0 if it has none; -1: others must write it. */
  measure(row: number): number {
    if (this.#texts !== undefined) {
      const { bytes, ends } = this.#texts;
      const [start, stop] = [ends[row]!, ends[row + 1]!];
      return this.#prefix.length + (this.#areAsInJson ? stop - start + 2 : utf8TextBytes(bytes, start, stop));
    }
    if (this.#numbers === undefined) return this.#renderValue(this.#values[row]);
    const number = this.#numbers[row]!;
    const digits = fewDigitsOf(number);
    if (digits > 0) return this.#prefix.length + digits;
    return number === this.#renderedNumber ? this.#renderedBytes : this.#renderNumber(number);
  }

  /** Writes what was measured last; returns the place after it. */
  put(bytes: Buffer, at: number, row: number): number {
    const prefix = this.#prefix;
    if (this.#texts !== undefined) {
      const { bytes: source, ends } = this.#texts;
      const [start, stop] = [ends[row]!, ends[row + 1]!];
      const end = copyBytes(bytes, at, prefix, 0, prefix.length);
      return this.#areAsInJson
        ? putQuoted(bytes, end, source, start, stop)
        : writeUtf8Text(bytes, end, source, start, stop);
    }
    if (this.#numbers !== undefined) {
      const number = this.#numbers[row]!;
      const digits = fewDigitsOf(number);
      if (digits > 0) return writeDigits(bytes, copyBytes(bytes, at, prefix, 0, prefix.length), number, digits);
    }
    return copyBytes(bytes, at, this.#rendered, 0, this.#renderedBytes);
  }

  #renderNumber(number: number): number {
    this.#renderedNumber = number;
    this.#renderedBytes = writeNumber(this.#rendered, this.#putPrefix(), number);
    return this.#renderedBytes;
  }

  #renderValue(value: unknown): number {
    const room = typeof value === "string" ? mostTextBytes(value.length) : mostNumberBytes;
    if (this.#prefix.length + room > this.#rendered.length)
      this.#rendered = Buffer.alloc(this.#prefix.length + 2 * room);
    const end = writeField(this.#rendered, 0, this.#prefix, value, room);
    this.#renderedBytes = Math.max(end, 0);
    return end;
  }

  #putPrefix(): number {
    return copyBytes(this.#rendered, 0, this.#prefix, 0, this.#prefix.length);
  }
}

function putQuoted(bytes: Buffer, at: number, source: Buffer, start: number, stop: number): number {
  bytes[at] = quote;
  const end = copyBytes(bytes, at + 1, source, start, stop);
  bytes[end] = quote;
  return end + 1;
}
