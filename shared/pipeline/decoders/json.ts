import type { StandardSchemaV1 } from "@standard-schema/spec";
import { UsageError, UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import type { Decoder, Encoder } from "../topology.ts";
import { decodeText } from "./text.ts";
import { undecodable } from "./undecodable.ts";

/**
 * Each record is a JSON document. With a schema of any validator that speaks Standard Schema (zod, valibot, arktype, …) the value is the
 * schema's output, else `unknown`. The validator must be synchronous. Without a schema it encodes rows for a sink, too; bigints become text.
 *
 * @throws UsageError `invalid-argument` for something else than a schema
 */
export function json(): Decoder<unknown> & Encoder<unknown>;
export function json<S extends StandardSchemaV1>(schema: S): Decoder<StandardSchemaV1.InferOutput<S>>;
export function json(schema?: StandardSchemaV1): Decoder<unknown> & Encoder<unknown> {
  if (schema === undefined) return { name: "json", decode: parse, encode: stringify, isJson: true, file };
  if (typeof schema?.["~standard"]?.validate !== "function") {
    throw new UsageError(
      "invalid-argument",
      "json() takes a schema that speaks Standard Schema, of zod, valibot or arktype",
    );
  }
  const decode = (bytes: Buffer, start: number, end: number) => validate(schema, parse(bytes, start, end));
  return { name: "json", decode, encode: stringify, isJson: true, file };
}

const file = { extension: "jsonl", ownLineBreaks: true };

/** Whether values are just what `JSON.parse` makes of their bytes: then parts of them can be found there. */
export function isPlainJson({ decode, decodeNull }: Decoder<unknown>): boolean {
  return decode === parse && decodeNull === undefined;
}

function stringify(row: unknown): string {
  const text = toJsonText(row);
  if (text !== undefined) return text;
  throw new UserCodeError("row-not-json", `JSON has nothing for a row of type ${typeof row}`);
}

function parse(bytes: Buffer, start: number, end: number): unknown {
  const text = decodeText(bytes, start, end);
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message quotes the text: only the position may go further.
    const position = /at position \d+/.exec(String(error))?.[0] ?? (text.trim() === "" ? "but empty" : undefined);
    throw undecodable(["is not valid JSON", position].filter(Boolean).join(", "));
  }
}

function validate(schema: StandardSchemaV1, value: unknown): unknown {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    result.catch(() => {});
    throw new UsageError("async-validator", "The schema of json() validates asynchronously, which a decoder cannot", {
      wayOut: "Take asynchronous refinements and transformations out of the schema.",
    });
  }
  if (result.issues === undefined) return result.value;
  // Some validators quote the value in an issue's message: only the path may go further.
  const paths = result.issues.map((issue) => (issue.path ?? []).map(segmentKey).join(".") || "(the whole value)");
  throw undecodable(`does not match the schema of json() at ${paths.join(", ")}`);
}

function segmentKey(segment: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof segment === "object" ? segment.key : segment);
}
