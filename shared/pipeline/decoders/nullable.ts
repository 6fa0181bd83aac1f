import type { Decoder } from "../topology.ts";
import { type DecoderLike, toDecoder } from "./decoder.ts";

/** A record may be null, as the tombstones of a compacted topic are: it decodes to null. `nullable(json(schema))`. */
export function nullable<T>(inner: DecoderLike<T>): Decoder<T | null> {
  const decoder = toDecoder("nullable()", inner);
  return {
    name: `nullable ${decoder.name}`,
    decode: (bytes, start, end) => decoder.decode(bytes, start, end),
    decodeNull: () => null,
  };
}
