import { UsageError } from "../../errors.ts";
import type { Decoder } from "../topology.ts";
import { decodeText } from "./text.ts";

/** A decoder, or a function that makes a value of a record's text. */
export type DecoderLike<T> = Decoder<T> | ((text: string) => T);

/** @throws UsageError `invalid-argument`, for instance for `text` where `text()` was meant */
export function toDecoder<T>(what: string, given: DecoderLike<T>): Decoder<T> {
  if (typeof given === "function" && given.length === 1) {
    return { name: "function", decode: (bytes, start, end) => given(decodeText(bytes, start, end)) };
  }
  if (typeof given === "object" && typeof given?.decode === "function") return given;
  throw new UsageError("invalid-argument", `${what} must be a decoder, or a function of a text`, {
    wayOut: 'For instance text(), json(schema), or (line) => line.split(",").',
  });
}
