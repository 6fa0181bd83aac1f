import { isUtf8 } from "node:buffer";
import { Field, found } from "./fields.ts";
import { type PointerBranch, type PointerTree, pointerTree } from "./pointer-tree.ts";
import { afterSpace, byte, literalEnd, numberEnd, TextReader } from "./tokens.ts";

/** Deeper documents are left to `JSON.parse`, which has no stack to overflow. */
const mostLevels = 100;

/**
 * Finds what pointers lead to in documents of JSON, in one pass over their bytes, and decodes nothing. It takes only what `JSON.parse` takes, and finds the same
 * there. What is rare it leaves to that: where a pointer passes, names with escapes and names that are there twice; documents of many levels.
 *
 * Mostly there is no white space: so one looks for it before `afterSpace` is called.
 */
export class DocumentScanner {
  /** What each pointer found. */
  readonly fields: readonly Field[];
  readonly #root: PointerTree;
  readonly #texts = new TextReader();
  #bytes: Uint8Array = new Uint8Array();
  #end = 0;
  #document = 0;

  /** @param most documents of a batch */
  constructor(pointers: readonly string[], most: number) {
    this.#root = pointerTree(pointers);
    this.fields = pointers.map(() => new Field(most));
  }

  /** Whether `bytes[start, end)` was taken: then the fields have what is in it under number `document`. */
  scan(bytes: Buffer, start: number, end: number, document: number): boolean {
    this.#bytes = bytes;
    this.#end = end;
    this.#document = document;
    this.#texts.hasWide = false;
    for (const field of this.fields) field.clear(document);
    const to = this.#value(afterSpace(bytes, start, end), this.#root, 0);
    if (to < 0 || afterSpace(bytes, to, end) !== end) return false;
    return !this.#texts.hasWide || isUtf8(bytes.subarray(start, end));
  }

  /** Where the value at `from` ends; -1 if there is none. `tree`: what is looked for there, if anything is. */
  #value(from: number, tree: PointerTree | undefined, level: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    if (from >= end) return -1;
    switch (bytes[from]) {
      case byte.quote: {
        const to = this.#texts.endOf(bytes, from + 1, end);
        if (to < 0) return -1;
        this.#put(tree, this.#texts.hasEscapes ? found.escapedText : found.text, from + 1, to);
        return to + 1;
      }
      case byte.leftBrace:
        return this.#put(tree, found.nested, from, this.#object(from + 1, tree, level + 1));
      case byte.leftBracket:
        return this.#put(tree, found.nested, from, this.#array(from + 1, tree, level + 1));
      case byte.true:
        return this.#put(tree, found.true, from, literalEnd(bytes, from, end, "true"));
      case byte.false:
        return this.#put(tree, found.false, from, literalEnd(bytes, from, end, "false"));
      case byte.null:
        return this.#put(tree, found.null, from, literalEnd(bytes, from, end, "null"));
      default:
        return this.#put(tree, found.number, from, numberEnd(bytes, from, end));
    }
  }

  #put(tree: PointerTree | undefined, kind: number, start: number, end: number): number {
    if (tree !== undefined && tree.pointer >= 0 && end >= 0)
      this.fields[tree.pointer]!.set(this.#document, kind, start, end);
    return end;
  }

  /** From behind the brace that opens it. */
  #object(from: number, tree: PointerTree | undefined, level: number): number {
    if (level > mostLevels) return -1;
    const bytes = this.#bytes;
    const end = this.#end;
    const branches = tree?.children;
    let at = afterSpace(bytes, from, end);
    if (at < end && bytes[at] === byte.rightBrace) return at + 1;
    for (let seen = 0; ; ) {
      if (at >= end || bytes[at] !== byte.quote) return -1;
      const nameEnd = this.#texts.endOf(bytes, at + 1, end);
      if (nameEnd < 0) return -1;
      let inner: PointerTree | undefined;
      if (branches !== undefined) {
        const branch = this.#texts.hasEscapes ? unknown : this.#branchOf(branches, at + 1, nameEnd);
        if (branch >= 0) {
          // Of two members of one name the last counts; if there are more than 32 branches, two may look like one.
          if ((seen & (1 << branch)) !== 0) return -1;
          seen |= 1 << branch;
          inner = branches[branch]!.tree;
        } else if (branch === unknown) return -1;
      }
      at = nameEnd + 1;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
      if (at >= end || bytes[at] !== byte.colon) return -1;
      at++;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
      at = this.#value(at, inner, level);
      if (at < 0) return -1;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
      if (at >= end) return -1;
      if (bytes[at] === byte.rightBrace) return at + 1;
      if (bytes[at] !== byte.comma) return -1;
      at++;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
    }
  }

  /** From behind the bracket that opens it. */
  #array(from: number, tree: PointerTree | undefined, level: number): number {
    if (level > mostLevels) return -1;
    const bytes = this.#bytes;
    const end = this.#end;
    let at = afterSpace(bytes, from, end);
    if (at < end && bytes[at] === byte.rightBracket) return at + 1;
    for (let index = 0; ; index++) {
      at = this.#value(at, tree && elementOf(tree, index), level);
      if (at < 0) return -1;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
      if (at >= end) return -1;
      if (bytes[at] === byte.rightBracket) return at + 1;
      if (bytes[at] !== byte.comma) return -1;
      at++;
      if (bytes[at]! <= byte.space) at = afterSpace(bytes, at, end);
    }
  }

  /** Which branch has the name at `[from, to)`; -1: none. */
  #branchOf(branches: readonly PointerBranch[], from: number, to: number): number {
    const bytes = this.#bytes;
    for (let branch = 0; branch < branches.length; branch++) {
      const { name } = branches[branch]!;
      if (name.length !== to - from) continue;
      let at = 0;
      while (at < name.length && name[at] === bytes[from + at]) at++;
      if (at === name.length) return branch;
    }
    return -1;
  }
}

function elementOf({ children }: PointerTree, index: number): PointerTree | undefined {
  for (const branch of children) if (branch.index === index) return branch.tree;
  return undefined;
}

/** A name with escapes may be that of any branch. */
const unknown = -2;
