import { hash } from "node:crypto";
import type { Aggregate } from "../../operators/aggregates.ts";
import type { Node, Topology } from "../../pipeline/topology.ts";

type AnyFunction = (...given: never[]) => unknown;

/** What each of a pipeline's functions gave, in the order of the calls: a running digest by operator. */
export class Observations {
  readonly #digests = new Map<string, string>();

  /** The pipeline with its functions watched. */
  watch(topology: Topology): Topology {
    for (const { id } of topology.nodes) this.#digests.set(id, "");
    return { ...topology, nodes: topology.nodes.map((node) => this.#watchNode(node)) };
  }

  /** The first operator, in the order of definition, that gave something else; undefined if all gave the same. */
  firstDifference(other: Observations): string | undefined {
    return [...this.#digests].find(([id, digest]) => other.#digests.get(id) !== digest)?.[0];
  }

  #watchNode(node: Node): Node {
    const watch = <F extends AnyFunction>(apply: F) => this.#watchFunction(node.id, apply);
    switch (node.kind) {
      case "source": {
        const { value, timestamp } = node.source;
        const source = {
          ...node.source,
          value: { ...value, decode: watch(value.decode.bind(value)) },
          ...(timestamp && { timestamp: watch(timestamp) }),
        };
        return { ...node, source };
      }
      case "map":
      case "filter":
      case "keyBy":
        return { ...node, apply: watch(node.apply) } as Node;
      case "flatMap":
        return { ...node, apply: watch(sameLength(node.apply, (...given) => [...node.apply(...given)])) };
      case "window":
      case "aggregate":
        return {
          ...node,
          aggregates: Object.fromEntries(
            Object.entries(node.aggregates).map(([name, one]) => [name, watchAggregate(one, watch)]),
          ),
        };
      default:
        return node;
    }
  }

  #watchFunction<F extends AnyFunction>(id: string, apply: F): F {
    return sameLength(apply, ((...given: never[]) => {
      const result = apply(...given);
      this.#digests.set(id, hash("sha1", this.#digests.get(id) + textOf(result)));
      return result;
    }) as F);
  }
}

function watchAggregate(
  aggregate: Aggregate<never, unknown, unknown>,
  watch: <F extends AnyFunction>(apply: F) => F,
): Aggregate<never, unknown, unknown> {
  return {
    ...aggregate,
    add: watch(aggregate.add.bind(aggregate)),
    result: watch(aggregate.result.bind(aggregate)),
  };
}

/** How many parameters a function declares means something (`wantsMetadata`). */
function sameLength<F extends AnyFunction>(original: F, wrapper: F): F {
  return Object.defineProperty(wrapper, "length", { value: original.length });
}

function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === "bigint" ? `${part}n` : part instanceof Map || part instanceof Set ? [...part] : part,
    ) ?? typeof value
  );
}
