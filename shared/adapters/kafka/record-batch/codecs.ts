import { constants, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import * as lz4 from "./lz4.ts";
import * as snappy from "./snappy.ts";

/** Names of Kafka's compression types, at the number that a record batch's attributes carry. */
export const compressionTypes = ["none", "gzip", "snappy", "lz4", "zstd"] as const;
export type Compression = (typeof compressionTypes)[number];

/** What a batch inflates to is over the limit. Its own class, since it is the batch's fault, and follows `onError`. */
export class InflationError extends Error {}

/** Larger than zlib's own 16 KiB: fewer pieces to put together. */
const chunkSize = 128 * 1024;

/** A fast setting of each: a batch is compressed once a try, and read soon. */
export function compress(compression: Compression, bytes: Uint8Array): Uint8Array {
  switch (compression) {
    case "none":
      return bytes;
    case "gzip":
      return gzipSync(bytes, { chunkSize, level: constants.Z_BEST_SPEED });
    case "snappy":
      return snappy.compress(bytes);
    case "lz4":
      return lz4.compressFrame(bytes);
    case "zstd":
      return zstdCompressSync(bytes, { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  }
}

/**
 * @param type a number of `compressionTypes`
 * @throws InflationError if the result is longer than `limit` bytes, before it is; another Error if the input is malformed, or the type unknown
 */
export function decompress(type: number, bytes: Buffer, limit: number): Buffer {
  const tooLong = () => new InflationError(`it inflates to more than ${limit} bytes`);
  const compression = compressionTypes[type];
  switch (compression) {
    case "none":
      return bytes;
    case "gzip":
      return bounded(() => gunzipSync(bytes, { chunkSize, maxOutputLength: limit }), tooLong);
    case "snappy":
      return snappy.decompress(bytes, limit, tooLong);
    case "lz4":
      return lz4.decompressFrame(bytes, limit, tooLong);
    case "zstd":
      return bounded(() => zstdDecompressSync(bytes, { chunkSize, maxOutputLength: limit }), tooLong);
    default:
      throw new Error(`compression type ${type} is unknown`);
  }
}

/** zlib stops inflating as soon as it is over the limit. */
function bounded(inflate: () => Buffer, tooLong: () => Error): Buffer {
  try {
    return inflate();
  } catch (error) {
    if (error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") throw tooLong();
    throw error;
  }
}
