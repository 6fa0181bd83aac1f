import { UserCodeError } from "../errors.ts";
import { isStateful, type Key, type KeyByNode, type Topology } from "../pipeline/topology.ts";
import { whyNoKey } from "../state/key-codec.ts";
import { announce, type ChainEnds } from "./ends.ts";
import type { Failures } from "./failures.ts";
import { EncodedKeys, type Keys, TextKeys } from "./keys.ts";
import { settled, userFunction } from "./user-function.ts";
import type { Texts, Values } from "./values.ts";

/** Keys by a function of the user's. What fails is left out. */
export function compileKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds, failures: Failures) {
  const { apply, takesMetadata } = userFunction(node.apply);
  const keys = new EncodedKeys();
  const pass = passTo(topology, node, ends);
  return (input: Values): void => {
    const { origin, values, rows } = input;
    if (values.length === 0) return;
    announce(ends, node.id, input);
    keys.begin(values.length);
    const failed: number[] = [];
    for (let index = 0; index < values.length; ) {
      try {
        for (; index < values.length; index++) {
          const key = takesMetadata ? apply(values[index], origin.metadata(rows[index]!)) : apply(values[index]);
          keys.add(checkedKey(key));
        }
      } catch (error) {
        failed.push(index);
        origin.fail(failures, node.id, rows[index++]!, error);
      }
    }
    pass(keys.end(), failed.length === 0 ? input : without(input, failed));
  };
}

/** Texts that are keys themselves. They are well-formed: none fails. */
export function compileTextKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds) {
  const keys = new TextKeys();
  const pass = passTo(topology, node, ends);
  return (input: Texts): void => {
    if (input.count === 0) return;
    announce(ends, node.id, input);
    pass(keys.of(input), input);
  };
}

function passTo(topology: Topology, { id }: KeyByNode, ends: ChainEnds): (keys: Keys, values: Values) => void {
  const stateful = topology.nodes.filter(isStateful).filter(({ input }) => input === id);
  return (keys, values) => {
    for (const node of stateful) ends.keyed!(node.id, keys, values);
  };
}

function without({ origin, values, rows }: Values, indexes: readonly number[]): Values {
  const left = new Set(indexes);
  const kept = [...values.keys()].filter((index) => !left.has(index));
  return {
    origin,
    values: kept.map((index) => values[index]),
    rows: Int32Array.from(kept, (index) => rows[index]!),
  };
}

function checkedKey(key: unknown): Key {
  if (typeof key === "string" && key.isWellFormed()) return key;
  const reason = whyNoKey(settled(key));
  if (reason === undefined) return key as Key;
  throw new UserCodeError(
    "invalid-key",
    `the key is ${reason}, but keys are well-formed strings, finite numbers, booleans, bigints, or tuples of them`,
  );
}
