import { UserCodeError } from "../errors.ts";
import {
  type FilterNode,
  type FlatMapNode,
  isStateful,
  type KeyByNode,
  type MapNode,
  type Node,
  type RecordMetadata,
  type Topology,
} from "../pipeline/topology.ts";
import { whyNoKey } from "../state/key-codec.ts";
import type { StageEnvironment, WriteRows } from "./environment.ts";
import type { Failures } from "./failures.ts";
import type { Origin } from "./origin.ts";
import { rowMaker } from "./select.ts";
import { settled, wantsMetadata } from "./user-function.ts";

/** Values between two operators: value i came from row `rows[i]` of `origin`. `rows` may be longer, and is reused for the next batch. */
export interface Values {
  readonly origin: Origin;
  readonly values: unknown[];
  readonly rows: Int32Array;
}

/** Values with a key each. */
export interface KeyedValues extends Values {
  readonly keys: unknown[];
}

/** Where a chain ends. */
export interface ChainEnds {
  readonly write: WriteRows;
  /** Keyed values for a stateful node. */
  keyed?(node: string, values: KeyedValues): void;
  readonly running?: StageEnvironment["running"] | undefined;
}

type Step = (input: Values) => void;

type Apply = (value: unknown, metadata?: RecordMetadata) => unknown;

/**
 * The operators after `root` up to the next shuffle, as one function of a batch. Each operator works on all values of the batch before the next
 * one begins: two arrays for each operator, and per value nothing but the call of the user's function.
 */
export function compileChain(topology: Topology, root: string, ends: ChainEnds, failures: Failures): Step {
  const children = topology.nodes.filter((node) => node.kind !== "source" && node.input === root);
  const steps = children.map((node) => compileNode(topology, node, ends, failures, children.length > 1));
  const [only] = steps;
  if (steps.length === 1) return only!;
  return (input) => {
    for (const step of steps) step(input);
  };
}

function compileNode(topology: Topology, node: Node, ends: ChainEnds, failures: Failures, shared: boolean): Step {
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
  const rows = new RowNumbers();
  return (input) => {
    if (input.values.length === 0) return;
    announce(ends, node.id, input);
    const values = apply(input, rows, (row, error) => input.origin.fail(failures, node.id, row, error));
    next({ origin: input.origin, values, rows: rows.numbers });
  };
}

/** The row numbers of an operator's output, in one array for all batches. */
class RowNumbers {
  numbers = new Int32Array(256);

  reserve(count: number): Int32Array {
    if (this.numbers.length < count) {
      const larger = new Int32Array(Math.max(count, this.numbers.length * 2));
      larger.set(this.numbers);
      this.numbers = larger;
    }
    return this.numbers;
  }
}

type Operator = (input: Values, rows: RowNumbers, fail: (row: number, error: unknown) => void) => unknown[];

function operatorOf(node: Node): Operator {
  switch (node.kind) {
    case "map":
      return mapOperator(node);
    case "filter":
      return filterOperator(node);
    case "flatMap":
      return flatMapOperator(node);
    case "select":
      return mapOperator({ apply: rowMaker(node) });
    default:
      throw new Error(`A ${node.kind} cannot stand within a stage`);
  }
}

/*
 * In each operator a `try` is around the loop, and not in it: a failure leaves the loop, which then goes on after the value that failed.
 */

function mapOperator(node: Pick<MapNode, "apply">): Operator {
  const apply = withMetadata(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const outputRows = numbers.reserve(count);
    const output = new Array<unknown>(count);
    let kept = 0;
    for (let index = 0; index < count; ) {
      try {
        for (; index < count; index++) {
          output[kept] = settled(apply(values[index], rows[index]!, origin));
          outputRows[kept++] = rows[index]!;
        }
      } catch (error) {
        fail(rows[index++]!, error);
      }
    }
    output.length = kept;
    return output;
  };
}

function filterOperator(node: FilterNode): Operator {
  const apply = withMetadata(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const outputRows = numbers.reserve(count);
    const output: unknown[] = [];
    for (let index = 0; index < count; ) {
      try {
        for (; index < count; index++) {
          if (!settled(apply(values[index], rows[index]!, origin))) continue;
          outputRows[output.length] = rows[index]!;
          output.push(values[index]);
        }
      } catch (error) {
        fail(rows[index++]!, error);
      }
    }
    return output;
  };
}

function flatMapOperator(node: FlatMapNode): Operator {
  const apply = withMetadata(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const output: unknown[] = [];
    for (let index = 0; index < count; ) {
      let before = 0;
      try {
        for (; index < count; index++) {
          before = output.length;
          append(output, apply(values[index], rows[index]!, origin));
          const outputRows = numbers.reserve(output.length);
          for (let at = before; at < output.length; at++) outputRows[at] = rows[index]!;
        }
      } catch (error) {
        // An iterator that threw half way: none of the record's values is taken.
        output.length = before;
        fail(rows[index++]!, error);
      }
    }
    return output;
  };
}

function append(output: unknown[], result: unknown): void {
  if (Array.isArray(result)) {
    for (let index = 0; index < result.length; index++) output.push(settled(result[index]));
    return;
  }
  settled(result);
  if (typeof result !== "object" || result === null || !(Symbol.iterator in result)) {
    const got = result === null ? "null" : `a value of type ${typeof result}`;
    throw new UserCodeError("not-iterable", `a flatMap must return an array or another iterable of values, not ${got}`);
  }
  for (const value of result as Iterable<unknown>) output.push(settled(value));
}

function compileKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds, failures: Failures): Step {
  const apply = withMetadata(node.apply);
  const stateful = topology.nodes.filter(isStateful).filter(({ input }) => input === node.id);
  const numbers = new RowNumbers();
  return (input) => {
    const { origin, rows } = input;
    const count = input.values.length;
    if (count === 0) return;
    announce(ends, node.id, input);
    const outputRows = numbers.reserve(count);
    const keys = new Array<unknown>(count);
    const values = new Array<unknown>(count);
    let kept = 0;
    for (let index = 0; index < count; ) {
      try {
        for (; index < count; index++) {
          keys[kept] = checkedKey(apply(input.values[index], rows[index]!, origin));
          values[kept] = input.values[index];
          outputRows[kept++] = rows[index]!;
        }
      } catch (error) {
        origin.fail(failures, node.id, rows[index++]!, error);
      }
    }
    keys.length = kept;
    values.length = kept;
    for (const { id } of stateful) ends.keyed!(id, { origin, keys, values, rows: outputRows });
  };
}

function checkedKey(key: unknown): unknown {
  if (typeof key === "string" && key.isWellFormed()) return key;
  const reason = whyNoKey(settled(key));
  if (reason === undefined) return key;
  throw new UserCodeError(
    "invalid-key",
    `the key is ${reason}, but keys are well-formed strings, finite numbers, booleans, bigints, or tuples of them`,
  );
}

type ApplyRow = (value: unknown, row: number, origin: Origin) => unknown;

function withMetadata(given: (...parameters: never[]) => unknown): ApplyRow {
  const apply = given as Apply;
  return wantsMetadata(given) ? (value, row, origin) => apply(value, origin.metadata(row)) : (value) => apply(value);
}

function announce({ running }: ChainEnds, operator: string, { origin, rows }: Values): void {
  running?.(operator, origin.partition, origin.offset(rows[0]!));
}
