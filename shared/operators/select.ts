import { follow, tokensOf } from "../pipeline/pointer.ts";
import type { SelectNode } from "../pipeline/topology.ts";
import type { Fields } from "./values.ts";

type Row = Record<string, unknown>;

/**
 * What a select node makes of a value: an object with its fields, in their order, without those whose pointers lead to nothing. So of the rows of an aggregation
 * each field is its key, a window's time or a result: these rows can be written without any object.
 */
export function rowMaker({ id, fields }: SelectNode): (value: unknown) => Row {
  const parts = Object.entries(fields).map(([name, pointer]) => ({ name, follow: follow(tokensOf(id, pointer)) }));
  return (value) => {
    const row: Row = {};
    for (const { name, follow } of parts) {
      const found = follow(value);
      if (found !== undefined) row[name] = found;
    }
    return row;
  };
}

/** The same for all values of a batch whose fields are there without them. */
export function rowsMaker({ fields }: SelectNode): (input: { fields: Fields; count: number }) => Row[] {
  const parts = Object.entries(fields);
  return ({ fields, count }) => {
    const rows = Array.from({ length: count }, (): Row => ({}));
    for (const [name, pointer] of parts) {
      const column = fields.column(pointer);
      for (let index = 0; index < count; index++) {
        const found = column[index];
        if (found !== undefined) rows[index]![name] = found;
      }
    }
    return rows;
  };
}
