import { tokensOf } from "../pipeline/pointer.ts";
import type { Node, SelectNode, Topology } from "../pipeline/topology.ts";
import type { ColumnRows, RowField } from "../ports/columns.ts";
import { fieldOrder, valuesOf } from "./column-rows.ts";

/** From an aggregation to a sink with nothing between them but `select` of fields that the rows have. */
export interface ColumnPath {
  /** Ids of the select nodes. */
  readonly selects: readonly string[];
  readonly sink: string;
  /** The sink's rows, in the order of their fields: which field of the aggregation's rows each one is. */
  readonly fields: readonly SelectedField[];
}

interface SelectedField {
  readonly name: string;
  readonly of: string;
}

/** The path that begins with this node, if it is one. @param names fields of the rows that come to it */
export function columnPath(topology: Topology, node: Node, names: readonly string[]): ColumnPath | undefined {
  const selects: string[] = [];
  let fields: readonly SelectedField[] | undefined = names.map((name) => ({ name, of: name }));
  let next: Node | undefined = node;
  while (next?.kind === "select") {
    const { id }: SelectNode = next;
    fields = selected(next, fields);
    if (fields === undefined) return undefined;
    selects.push(id);
    const children: readonly Node[] = topology.nodes.filter((child) => child.kind !== "source" && child.input === id);
    next = children.length === 1 ? children[0] : undefined;
  }
  return next?.kind === "sink" ? { selects, sink: next.id, fields } : undefined;
}

/** Undefined if a pointer leads elsewhere than to a field. */
function selected(node: SelectNode, given: readonly SelectedField[]): readonly SelectedField[] | undefined {
  const fields: SelectedField[] = [];
  for (const [name, pointer] of Object.entries(node.fields)) {
    const [token, ...inner] = tokensOf(node.id, pointer);
    const field = given.find((one) => one.name === token);
    if (field === undefined || inner.length > 0) return undefined;
    fields.push({ name, of: field.of });
  }
  return fieldOrder(fields);
}

/** Results with other names. */
export class SelectedColumns implements ColumnRows {
  readonly length: number;
  readonly fields: readonly RowField[];
  readonly times: Float64Array;
  #rows: unknown[] | undefined;

  constructor(results: ColumnRows, fields: readonly SelectedField[]) {
    this.length = results.length;
    this.times = results.times;
    const columns = new Map(results.fields.map(({ name, column }) => [name, column]));
    this.fields = fields.map(({ name, of }) => ({ name, column: columns.get(of)! }));
  }

  rows(): unknown[] {
    this.#rows ??= this.#makeRows();
    return this.#rows;
  }

  #makeRows(): unknown[] {
    const rows = Array.from({ length: this.length }, (): Record<string, unknown> => ({}));
    const columns = this.fields.map(({ name, column }) => ({ name, values: valuesOf(column, this.length) }));
    for (const [index, row] of rows.entries())
      for (const { name, values } of columns) if (values[index] !== undefined) row[name] = values[index];
    return rows;
  }
}
