import type { Key, KeyPart } from "../pipeline/topology.ts";

interface TupleNode {
  number: number | undefined;
  next: Map<KeyPart, TupleNode> | undefined;
}

/**
 * Numbers keys in order of insertion, without encoding them: a `Map` of the values themselves, and for tuples one `Map` a level, so that
 * no text is put together per record. `Map` has -0 be 0.
 */
export class KeyIndex {
  readonly keys: Key[] = [];
  readonly #parts = new Map<KeyPart, number>();
  #tuples: TupleNode | undefined;

  /** The number of a key; undefined if it is new. */
  find(key: Key): number | undefined {
    return typeof key === "object" ? this.#findTuple(key) : this.#parts.get(key);
  }

  /** Adds a key that is new, or once more one that is found by the new number from now on; its number is how many there were. */
  add(key: Key): number {
    const number = this.keys.length;
    if (typeof key === "object") this.#addTuple(key, number);
    else this.#parts.set(key, number);
    this.keys.push(key);
    return number;
  }

  #findTuple(parts: readonly KeyPart[]): number | undefined {
    let node = this.#tuples;
    for (let index = 0; index < parts.length && node !== undefined; index++) node = node.next?.get(parts[index]!);
    return node?.number;
  }

  #addTuple(parts: readonly KeyPart[], number: number): void {
    this.#tuples ??= newNode();
    let node = this.#tuples;
    for (const part of parts) {
      node.next ??= new Map();
      let child = node.next.get(part);
      if (child === undefined) {
        child = newNode();
        node.next.set(part, child);
      }
      node = child;
    }
    node.number = number;
  }
}

function newNode(): TupleNode {
  return { number: undefined, next: undefined };
}
