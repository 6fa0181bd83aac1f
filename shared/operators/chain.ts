import { pointerOf } from "../pipeline/pointer.ts";
import type { FlatMapNode, KeyByNode, MapNode, Node, Topology } from "../pipeline/topology.ts";
import { announce, type ChainEnds } from "./ends.ts";
import type { Failures } from "./failures.ts";
import type { Documents } from "./json/documents.ts";
import { compileDocumentKeyBy, compileKeyBy, compileTextKeyBy } from "./key-by.ts";
import { operatorOf } from "./operators.ts";
import { rowsMaker } from "./select.ts";
import { compileSplit } from "./split.ts";
import { compileTextSink, isTextSink } from "./text-sink.ts";
import { Scratch, type Texts, type Values } from "./values.ts";

/**
 * The operators after `root` up to the next shuffle, as one function of a batch. Each operator works on all values of the batch before the next
 * one begins: two arrays for each operator, and per value nothing but the call of the user's function.
 */
export function compileChain(
  topology: Topology,
  root: string,
  ends: ChainEnds,
  failures: Failures,
): (input: Values) => void {
  const nodes = childrenOf(topology, root);
  return inTurn(nodes.map((node) => compileNode(topology, node, ends, failures, nodes.length > 1)));
}

/** The same where `root` gives texts as bytes: they stay bytes as far as operators know what to do with these, and the others ask for strings. */
export function compileTextChain(
  topology: Topology,
  root: string,
  ends: ChainEnds,
  failures: Failures,
): (input: Texts) => void {
  const nodes = childrenOf(topology, root);
  return inTurn(
    nodes.map((node) => {
      if (node.kind === "keyBy" && isKeyItself(node)) return compileTextKeyBy(topology, node, ends);
      if (ends.writeTexts && isTextSink(topology, node)) return compileTextSink(node, ends.writeTexts, failures);
      if (node.kind !== "flatMap" || !node.split) return compileNode(topology, node, ends, failures, nodes.length > 1);
      const next = compileTextChain(topology, node.id, ends, failures);
      const split = compileSplit(node.split);
      return (input) => {
        if (input.count === 0) return;
        announce(ends, node.id, input);
        next(split(input));
      };
    }),
  );
}

/** The same where `root` gives documents of JSON as bytes, of which all nodes after it ask for fields alone (`pointersAsked`). */
export function compileDocumentChain(
  topology: Topology,
  root: string,
  ends: ChainEnds,
  failures: Failures,
): (input: Documents) => void {
  const nodes = childrenOf(topology, root);
  return inTurn(nodes.map((node) => compileDocumentNode(topology, node, ends, failures)));
}

function compileDocumentNode(topology: Topology, node: Node, ends: ChainEnds, failures: Failures) {
  if (node.kind === "keyBy") return compileDocumentKeyBy(topology, node, ends, failures);
  const next = compileChain(topology, node.id, ends, failures);
  if (node.kind === "select") {
    const makeRows = rowsMaker(node);
    return (input: Documents) => {
      if (input.count === 0) return;
      announce(ends, node.id, input);
      next({ origin: input.origin, values: makeRows(input), rows: input.rows });
    };
  }
  // What the pointer finds is given to the operator in place of the document.
  const { apply, ...rest } = node as MapNode | FlatMapNode;
  const pointer = pointerOf(apply) as string;
  const step = compileNode(topology, { ...rest, apply: (value: unknown) => value } as Node, ends, failures, false);
  return (input: Documents) => step({ origin: input.origin, rows: input.rows, values: [...input.column(pointer)] });
}

/** Whether it is worth it that a node gives texts as bytes: an operator after it takes them. */
export function takesTexts(topology: Topology, root: string): boolean {
  return childrenOf(topology, root).some(
    (node) =>
      (node.kind === "keyBy" && isKeyItself(node)) ||
      (node.kind === "flatMap" && node.split !== undefined) ||
      isTextSink(topology, node),
  );
}

function isKeyItself({ apply }: KeyByNode): boolean {
  return pointerOf(apply) === "";
}

function childrenOf({ nodes }: Topology, root: string): Node[] {
  return nodes.filter((node) => node.kind !== "source" && node.input === root);
}

function inTurn<T>(steps: readonly ((input: T) => void)[]): (input: T) => void {
  const [only] = steps;
  if (steps.length === 1) return only!;
  return (input) => {
    for (const step of steps) step(input);
  };
}

function compileNode(
  topology: Topology,
  node: Node,
  ends: ChainEnds,
  failures: Failures,
  shared: boolean,
): (input: Values) => void {
  if (node.kind === "sink") {
    return ({ origin, values, rows }) => {
      if (values.length === 0) return;
      ends.write(
        node.id,
        shared ? values.slice() : values,
        (index) => origin.timestamp(rows[index]!),
        (index, error) => origin.fail(failures, node.id, rows[index]!, error),
      );
    };
  }
  if (node.kind === "keyBy") return compileKeyBy(topology, node, ends, failures);
  const next = compileChain(topology, node.id, ends, failures);
  const apply = operatorOf(node);
  const rows = new Scratch();
  return (input) => {
    if (input.values.length === 0) return;
    announce(ends, node.id, input);
    const values = apply(input, rows, (row, error) => input.origin.fail(failures, node.id, row, error));
    next({ origin: input.origin, values, rows: rows.numbers });
  };
}
