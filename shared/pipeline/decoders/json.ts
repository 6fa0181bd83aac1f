import type { StandardSchemaV1 } from "@standard-schema/spec";
import { UsageError } from "../../errors.ts";
import type { Decoder } from "../topology.ts";
import { decodeText } from "./text.ts";
import { undecodable } from "./undecodable.ts";

/**
 * Each record is a JSON document. With a schema of any validator that speaks Standard Schema (zod, valibot, arktype, …) the value is the
 * schema's output, else `unknown`. The validator must be synchronous.
 *
 * @throws UsageError `invalid-argument` for something else than a schema
 */
export function json(): Decoder<unknown>;
export function json<S extends StandardSchemaV1>(schema: S): Decoder<StandardSchemaV1.InferOutput<S>>;
export function json(schema?: StandardSchemaV1): Decoder<unknown> {
  if (schema === undefined) return { name: "json", decode: parse };
  if (typeof schema?.["~standard"]?.validate !== "function") {
    throw new UsageError(
      "invalid-argument",
      "json() takes a schema that speaks Standard Schema, of zod, valibot or arktype",
    );
  }
  return { name: "json", decode: (bytes, start, end) => validate(schema, parse(bytes, start, end)) };
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
