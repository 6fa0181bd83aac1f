import { UserCodeError } from "../errors.ts";
import { checkText, isPlainText, isText } from "../pipeline/decoders/text.ts";
import { pointerOf } from "../pipeline/pointer.ts";
import type { Decoder, SourceNode, Topology } from "../pipeline/topology.ts";
import type { RecordBatch } from "../ports/source.ts";
import { viewOf } from "../state/bytes.ts";
import { compileChain, compileDocumentChain, compileTextChain, takesTexts } from "./chain.ts";
import type { ChainEnds } from "./ends.ts";
import type { Failures } from "./failures.ts";
import { pointersAsked } from "./json/asked.ts";
import { DocumentReader } from "./json/document-reader.ts";
import { Documents } from "./json/documents.ts";
import type { Field } from "./json/fields.ts";
import type { Origin } from "./origin.ts";
import { settled } from "./user-function.ts";
import { Texts, type Values } from "./values.ts";

/** The values of a batch of records on their way into the chain: number after number is taken, and in the end all are passed on. */
export interface SourceValues {
  /** Takes the values of rows `[from, to)` as the first ones, if there is nothing wrong with any; false if there is: then they are to be taken one by one. */
  takeAll?(batch: RecordBatch, from: number, to: number): boolean;
  /** Takes `bytes[start, end)` as the value of this number, or, with a start below 0, null. @throws what is wrong with it */
  take(bytes: Buffer, start: number, end: number, index: number): void;
  /** The event time that the value of this number, the last that was taken, has itself. Not of sources without `timestamp`. */
  time(bytes: Buffer, index: number): unknown;
  /** The first `count` values came from these rows. */
  pass(origin: Origin, bytes: Buffer, rows: Int32Array, count: number): void;
}

/**
 * Values are decoded, unless all that follows knows what to do with their bytes: texts that are cut into pieces, or are keys; documents of JSON of which only fields are
 * asked for. Then they are checked, as decoding would, and stay where they are.
 *
 * @param most values of a batch
 */
export function sourceValues(topology: Topology, ends: ChainEnds, failures: Failures, most: number): SourceValues {
  const node = topology.nodes[0] as SourceNode;
  const { id, source } = node;
  if (isPlainText(source.value) && source.timestamp === undefined && takesTexts(topology, id))
    return new TextValues(source.value, most, compileTextChain(topology, id, ends, failures));
  const pointers = pointersAsked(topology, node);
  if (pointers === undefined) return new DecodedValues(source, compileChain(topology, id, ends, failures));
  const reader = new DocumentReader(source.value, pointers, most);
  return new DocumentValues(source, reader, compileDocumentChain(topology, id, ends, failures));
}

class DecodedValues implements SourceValues {
  readonly #decoder: Decoder<unknown>;
  readonly #timestamp: SourceNode["source"]["timestamp"];
  readonly #chain: (input: Values) => void;
  #values: unknown[] = [];

  constructor({ value, timestamp }: SourceNode["source"], chain: (input: Values) => void) {
    this.#decoder = value;
    this.#timestamp = timestamp;
    this.#chain = chain;
  }

  take(bytes: Buffer, start: number, end: number, index: number): void {
    this.#values[index] = start < 0 ? nullOf(this.#decoder) : settled(this.#decoder.decode(bytes, start, end));
  }

  time(_: Buffer, index: number): unknown {
    return this.#timestamp!(this.#values[index]);
  }

  pass(origin: Origin, _: Buffer, rows: Int32Array, count: number): void {
    const values = this.#values;
    values.length = count;
    this.#values = [];
    this.#chain({ origin, values, rows });
  }
}

class TextValues implements SourceValues {
  readonly #decoder: Decoder<unknown>;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #chain: (input: Texts) => void;

  constructor(decoder: Decoder<unknown>, most: number, chain: (input: Texts) => void) {
    this.#decoder = decoder;
    this.#starts = new Int32Array(most);
    this.#ends = new Int32Array(most);
    this.#chain = chain;
  }

  takeAll({ bytes, valueStart, valueEnd }: RecordBatch, from: number, to: number): boolean {
    if (!areTexts(viewOf(bytes), valueStart, valueEnd, from, to)) return false;
    this.#starts.set(valueStart.subarray(from, to));
    this.#ends.set(valueEnd.subarray(from, to));
    return true;
  }

  take(bytes: Buffer, start: number, end: number, index: number): void {
    if (start < 0) nullOf(this.#decoder);
    checkText(bytes, start, end);
    this.#starts[index] = start;
    this.#ends[index] = end;
  }

  time(): unknown {
    return undefined;
  }

  pass(origin: Origin, bytes: Buffer, rows: Int32Array, count: number): void {
    this.#chain(new Texts(origin, bytes, { count, rows, starts: this.#starts, ends: this.#ends }));
  }
}

function areTexts(view: DataView, starts: Int32Array, ends: Int32Array, from: number, to: number): boolean {
  for (let row = from; row < to; row++) {
    const start = starts[row]!;
    if (start < 0 || !isText(view, start, ends[row]!)) return false;
  }
  return true;
}

class DocumentValues implements SourceValues {
  readonly #decoder: Decoder<unknown>;
  readonly #reader: DocumentReader;
  readonly #times: Field | undefined;
  readonly #chain: (input: Documents) => void;

  constructor({ value, timestamp }: SourceNode["source"], reader: DocumentReader, chain: (input: Documents) => void) {
    this.#decoder = value;
    this.#reader = reader;
    this.#times = timestamp && reader.field(pointerOf(timestamp) as string);
    this.#chain = chain;
  }

  take(bytes: Buffer, start: number, end: number, index: number): void {
    if (start < 0) nullOf(this.#decoder);
    this.#reader.read(bytes, start, end, index);
  }

  time(bytes: Buffer, index: number): unknown {
    return this.#times!.value(bytes, index);
  }

  pass(origin: Origin, bytes: Buffer, rows: Int32Array, count: number): void {
    this.#chain(new Documents(origin, bytes, rows, count, this.#reader));
  }
}

function nullOf(decoder: Decoder<unknown>): unknown {
  if (decoder.decodeNull !== undefined) return settled(decoder.decodeNull());
  throw new UserCodeError("null-value", "the record's value is null, which its decoder does not take", {
    wayOut: "Where a null means something, such as a deletion: value: nullable(…).",
  });
}
