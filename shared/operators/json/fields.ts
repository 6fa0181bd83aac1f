import { numberAt } from "./tokens.ts";

/** What a pointer found. */
export const found = {
  nothing: 0,
  text: 1,
  escapedText: 2,
  number: 3,
  true: 4,
  false: 5,
  null: 6,
  nested: 7,
  value: 8,
} as const;

/** What one pointer found in the documents of a batch, as slices of their bytes. */
export class Field {
  /** One of `found`, by document. */
  readonly kinds: Uint8Array;
  /** Of a text without its quotes. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Of documents that were decoded as a whole. */
  readonly #values: unknown[] = [];

  constructor(most: number) {
    this.kinds = new Uint8Array(most);
    this.starts = new Int32Array(most);
    this.ends = new Int32Array(most);
  }

  clear(document: number): void {
    this.kinds[document] = found.nothing;
  }

  set(document: number, kind: number, start: number, end: number): void {
    this.kinds[document] = kind;
    this.starts[document] = start;
    this.ends[document] = end;
  }

  setValue(document: number, value: unknown): void {
    this.kinds[document] = found.value;
    this.#values[document] = value;
  }

  /** All that was found in the first documents is of this kind. */
  isAll(kind: number, count: number): boolean {
    for (let document = 0; document < count; document++) if (this.kinds[document] !== kind) return false;
    return true;
  }

  /** The values of the first documents: as numbers alone, where they are. */
  column(bytes: Buffer, count: number): readonly unknown[] | Float64Array {
    if (!this.isAll(found.number, count)) return Array.from({ length: count }, (_, at) => this.value(bytes, at));
    const numbers = new Float64Array(count);
    for (let at = 0; at < count; at++) numbers[at] = numberAt(bytes, this.starts[at]!, this.ends[at]!);
    return numbers;
  }

  /** The value, as `JSON.parse` would have made it. */
  value(bytes: Buffer, document: number): unknown {
    const start = this.starts[document]!;
    const end = this.ends[document]!;
    switch (this.kinds[document]) {
      case found.text:
        return bytes.toString("utf8", start, end);
      case found.escapedText:
        return JSON.parse(bytes.toString("utf8", start - 1, end + 1));
      case found.number:
        return numberAt(bytes, start, end);
      case found.true:
        return true;
      case found.false:
        return false;
      case found.null:
        return null;
      case found.nested:
        return JSON.parse(bytes.toString("utf8", start, end));
      case found.value:
        return this.#values[document];
      default:
        return undefined;
    }
  }
}
