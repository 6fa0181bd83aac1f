import { UserCodeError } from "../errors.ts";
import type { FilterNode, FlatMapNode, MapNode, Node } from "../pipeline/topology.ts";
import { rowMaker } from "./select.ts";
import { settled, userFunction } from "./user-function.ts";
import type { Scratch, Values } from "./values.ts";

/** An operator without state: its output for a batch, whose row numbers go into `numbers`. */
export type Operator = (input: Values, numbers: Scratch, fail: (row: number, error: unknown) => void) => unknown[];

export function operatorOf(node: Node): Operator {
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
 * In each operator a `try` is around the loop, and not in it: a failure leaves the loop, which then goes on after the value that failed. The user's
 * function is called in the loop itself: so the engine sees that it is always the same, and can do without the call.
 */

function mapOperator(node: Pick<MapNode, "apply">): Operator {
  const { apply, takesMetadata } = userFunction(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const outputRows = numbers.reserve(count);
    const output = new Array<unknown>(count);
    let kept = 0;
    for (let index = 0; index < count; ) {
      try {
        for (; index < count; index++) {
          const row = rows[index]!;
          output[kept] = settled(takesMetadata ? apply(values[index], origin.metadata(row)) : apply(values[index]));
          outputRows[kept++] = row;
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
  const { apply, takesMetadata } = userFunction(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const outputRows = numbers.reserve(count);
    const output: unknown[] = [];
    for (let index = 0; index < count; ) {
      try {
        for (; index < count; index++) {
          const row = rows[index]!;
          if (!settled(takesMetadata ? apply(values[index], origin.metadata(row)) : apply(values[index]))) continue;
          outputRows[output.length] = row;
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
  const { apply, takesMetadata } = userFunction(node.apply);
  return ({ origin, values, rows }, numbers, fail) => {
    const count = values.length;
    const output: unknown[] = [];
    for (let index = 0; index < count; ) {
      let before = 0;
      try {
        for (; index < count; index++) {
          before = output.length;
          const row = rows[index]!;
          append(output, takesMetadata ? apply(values[index], origin.metadata(row)) : apply(values[index]));
          const outputRows = numbers.reserve(output.length);
          for (let at = before; at < output.length; at++) outputRows[at] = row;
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
