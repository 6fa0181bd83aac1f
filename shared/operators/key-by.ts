import { UserCodeError } from "../errors.ts";
import { pointerOf } from "../pipeline/pointer.ts";
import { isStateful, type Key, type KeyByNode, type Topology } from "../pipeline/topology.ts";
import { whyNoKey } from "../state/key-codec.ts";
import { announce, type ChainEnds } from "./ends.ts";
import type { Failures } from "./failures.ts";
import type { Documents } from "./json/documents.ts";
import { Keys } from "./keys.ts";
import { settled, type UserFunction, userFunction } from "./user-function.ts";
import { Remaining, type Texts, type Values } from "./values.ts";

/** Keys by a function of the user's. What fails is left out. */
export function compileKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds, failures: Failures) {
  const select = userFunction(node.apply);
  const pass = encoding(topology, node, ends, failures);
  return (input: Values): void => {
    if (input.values.length === 0) return;
    announce(ends, node.id, input);
    pass(input, input.values, select);
  };
}

const itself: UserFunction = { apply: (value) => value, takesMetadata: false };

/** Keys that are fields of documents. Texts, where all of them are, stay where they are. */
export function compileDocumentKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds, failures: Failures) {
  const pointer = pointerOf(node.apply)!;
  const keys = new Keys();
  const passTexts = passTo(topology, node, ends);
  const pass = encoding(topology, node, ends, failures, keys);
  return (input: Documents): void => {
    const { bytes, count } = input;
    if (count === 0) return;
    announce(ends, node.id, input);
    const slices = typeof pointer === "string" ? input.texts(pointer) : undefined;
    if (slices !== undefined) passTexts(keys.ofTexts({ bytes, count, ...slices }), input);
    else if (typeof pointer === "string") pass(input, input.column(pointer), itself);
    else {
      const columns = pointer.map((each) => input.column(each));
      const tuples = Array.from({ length: count }, (_, index) => columns.map((column) => column[index]));
      pass(input, tuples, itself);
    }
  };
}

/** Texts that are keys themselves. They are well-formed: none fails. */
export function compileTextKeyBy(topology: Topology, node: KeyByNode, ends: ChainEnds) {
  const keys = new Keys();
  const pass = passTo(topology, node, ends);
  return (input: Texts): void => {
    if (input.count === 0) return;
    announce(ends, node.id, input);
    pass(keys.ofTexts(input), input);
  };
}

/** Passes values on with keys that are made of `given`, one for each value, and encoded; without those that fail. */
function encoding(topology: Topology, node: KeyByNode, ends: ChainEnds, failures: Failures, keys = new Keys()) {
  const pass = passTo(topology, node, ends);
  return (input: Values, given: readonly unknown[] | Float64Array, { apply, takesMetadata }: UserFunction): void => {
    const { origin, rows } = input;
    const { length } = given;
    keys.begin(length);
    const failed: number[] = [];
    for (let index = 0; index < length; ) {
      try {
        for (; index < length; index++) {
          const key = takesMetadata ? apply(given[index], origin.metadata(rows[index]!)) : apply(given[index]);
          if (typeof key !== "string" || !keys.addAscii(key)) keys.add(checkedKey(key));
        }
      } catch (error) {
        failed.push(index);
        origin.fail(failures, node.id, rows[index++]!, error);
      }
    }
    pass(keys.end(), failed.length === 0 ? input : new Remaining(input, length, failed));
  };
}

function passTo(topology: Topology, { id }: KeyByNode, ends: ChainEnds): (keys: Keys, values: Values) => void {
  const stateful = topology.nodes.filter(isStateful).filter(({ input }) => input === id);
  return (keys, values) => {
    for (const node of stateful) ends.keyed!(node.id, keys, values);
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
