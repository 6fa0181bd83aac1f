import type { Topology } from "../pipeline/topology.ts";
import { compileChain } from "./chain.ts";
import type { ChainEnds } from "./ends.ts";
import type { Failures } from "./failures.ts";
import { DerivedOrigin } from "./origin.ts";
import type { Results } from "./results.ts";

/** Passes a batch of results on. */
export type PassResults = (results: Results) => void;

/** What follows an aggregation, up to its sinks. */
export function compileResults(topology: Topology, operator: string, ends: ChainEnds, failures: Failures): PassResults {
  const chain = compileChain(topology, operator, ends, failures);
  return (results) => {
    if (results.length === 0) return;
    const values = results.rows();
    chain({ origin: new DerivedOrigin(results), values, rows: rowNumbers(values.length) });
  };
}

let numbers = new Int32Array();

/** 0, 1, 2, … so many at least. */
function rowNumbers(count: number): Int32Array {
  if (numbers.length < count) numbers = Int32Array.from({ length: count }, (_, row) => row);
  return numbers;
}
