import { follow, tokensOf } from "../../pipeline/pointer.ts";
import type { Decoder } from "../../pipeline/topology.ts";
import { DocumentScanner } from "./document-scanner.ts";
import type { Field } from "./fields.ts";

/**
 * Reads the fields of a batch of documents: those that the scanner takes without decoding them, and all others by the decoder, which then finds the same, or says
 * what is wrong.
 */
export class DocumentReader {
  readonly #decoder: Decoder<unknown>;
  readonly #scanner: DocumentScanner;
  readonly #follow: readonly ((value: unknown) => unknown)[];
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;

  /** @param most documents of a batch */
  constructor(decoder: Decoder<unknown>, pointers: readonly string[], most: number) {
    this.#decoder = decoder;
    this.#scanner = new DocumentScanner(pointers, most);
    this.#follow = pointers.map((pointer) => follow(tokensOf("a pipeline", pointer)));
    this.#fields = new Map(pointers.map((pointer, at) => [pointer, this.#scanner.fields[at]!]));
    this.#starts = new Int32Array(most);
    this.#ends = new Int32Array(most);
  }

  /** Reads `bytes[start, end)` as document number `index`. @throws what the decoder throws */
  read(bytes: Buffer, start: number, end: number, index: number): void {
    this.#starts[index] = start;
    this.#ends[index] = end;
    if (this.#scanner.scan(bytes, start, end, index)) return;
    const value = this.#decoder.decode(bytes, start, end);
    for (const [at, field] of this.#scanner.fields.entries()) field.setValue(index, this.#follow[at]!(value));
  }

  /** The whole document. */
  value(bytes: Buffer, index: number): unknown {
    return this.#decoder.decode(bytes, this.#starts[index]!, this.#ends[index]!);
  }

  /** Of one of the pointers given. */
  field(pointer: string): Field {
    return this.#fields.get(pointer)!;
  }
}
