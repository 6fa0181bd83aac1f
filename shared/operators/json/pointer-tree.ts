import { arrayIndexOf, tokensOf } from "../../pipeline/pointer.ts";

/** What is looked for below a place of a document. */
export interface PointerTree {
  /** Number of the pointer that ends here; -1: none does. */
  pointer: number;
  readonly children: PointerBranch[];
}

export interface PointerBranch {
  /** Of a member of an object, in UTF-8. */
  readonly name: Uint8Array;
  /** Of an element of an array; -1 if the token is no index. */
  readonly index: number;
  readonly tree: PointerTree;
}

/** The tree of several pointers, so that one pass finds all of them. */
export function pointerTree(pointers: readonly string[]): PointerTree {
  const root: PointerTree = { pointer: -1, children: [] };
  for (const [number, pointer] of pointers.entries()) {
    let tree = root;
    for (const token of tokensOf("a pipeline", pointer)) tree = branchOf(tree, token).tree;
    tree.pointer = number;
  }
  return root;
}

function branchOf({ children }: PointerTree, token: string): PointerBranch {
  const name = Buffer.from(token);
  const known = children.find((branch) => name.equals(branch.name));
  if (known !== undefined) return known;
  const branch = { name, index: arrayIndexOf(token) ?? -1, tree: { pointer: -1, children: [] } };
  children.push(branch);
  return branch;
}
