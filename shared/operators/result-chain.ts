import type { StatefulNode, Topology } from "../pipeline/topology.ts";
import { compileChain } from "./chain.ts";
import type { ChainEnds } from "./ends.ts";
import type { WriteColumns } from "./environment.ts";
import type { Failures } from "./failures.ts";
import { DerivedOrigin } from "./origin.ts";
import { type ColumnPath, columnPath, SelectedColumns } from "./result-columns.ts";
import { fieldNamesOf, type Results } from "./results.ts";

/** Passes a batch of results on. */
export type PassResults = (results: Results) => void;

/**
 * What follows an aggregation, up to its sinks. Where nothing but `select` of fields stands between it and all of them, rows stay columns; else they are objects in all
 * branches, so that failures come in the same order.
 *
 * @param write without it rows are always objects
 */
export function compileResults(
  topology: Topology,
  node: StatefulNode,
  ends: ChainEnds,
  failures: Failures,
  write?: WriteColumns,
): PassResults {
  const names = fieldNamesOf(node);
  const paths = topology.nodes
    .filter((child) => child.kind !== "source" && child.input === node.id)
    .map((child) => columnPath(topology, child, names));
  if (write !== undefined && paths.every((path) => path !== undefined))
    return (results) => {
      if (results.length > 0) for (const path of paths) passColumns(path, results, ends, failures, write);
    };
  const chain = compileChain(topology, node.id, ends, failures);
  return (results) => {
    if (results.length === 0) return;
    const values = results.rows();
    chain({ origin: new DerivedOrigin(results), values, rows: rowNumbers(values.length) });
  };
}

function passColumns(
  { selects, sink, fields }: ColumnPath,
  results: Results,
  { running }: ChainEnds,
  failures: Failures,
  write: WriteColumns,
): void {
  for (const select of selects) running?.(select, "", -1);
  const columns = selects.length === 0 ? results : new SelectedColumns(results, fields);
  const origin = new DerivedOrigin(results);
  write(sink, columns, (row, error) => origin.fail(failures, sink, row, error));
}

let numbers = new Int32Array();

/** 0, 1, 2, … so many at least. */
function rowNumbers(count: number): Int32Array {
  if (numbers.length < count) numbers = Int32Array.from({ length: count }, (_, row) => row);
  return numbers;
}
