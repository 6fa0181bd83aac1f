import { follow, tokensOf } from "../pipeline/pointer.ts";
import type { SelectNode } from "../pipeline/topology.ts";

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
