import { isAscii } from "node:buffer";
import type { RowColumn, TextColumn } from "../ports/columns.ts";

/** The first `count` values of a column, one after the other. */
export function valuesOf(column: RowColumn, count: number): ArrayLike<unknown> {
  return "ends" in column ? textsOf(column, count) : column;
}

/** The first `count` texts of a column. Cutting one text into pieces is faster than a call into the engine for each of them. */
export function textsOf({ bytes, ends }: TextColumn, count: number): string[] {
  const texts = new Array<string>(count);
  const used = bytes.subarray(0, ends[count]);
  if (isAscii(used)) {
    const all = used.toString("latin1");
    for (let index = 0; index < count; index++) texts[index] = all.slice(ends[index], ends[index + 1]);
  } else
    for (let index = 0; index < count; index++) texts[index] = bytes.toString("utf8", ends[index], ends[index + 1]);
  return texts;
}

/** Sets a field of the first `count` rows. A loop of its own for each field, so that it knows one kind of value only. */
export function setField(rows: readonly object[], name: string, values: ArrayLike<unknown>, count: number): void {
  for (let index = 0; index < count; index++) (rows[index] as Record<string, unknown>)[name] = values[index];
}

/** Fields, each of another name, in the order in which an object has them: names that are numbers come before others. */
export function fieldOrder<Field extends { readonly name: string }>(fields: readonly Field[]): Field[] {
  return Object.values(Object.fromEntries(fields.map((field) => [field.name, field])));
}
