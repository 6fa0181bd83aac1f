import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import { type CompressionOption, compressionOptions } from "../compression/decompress.ts";
import { FileNames, type NameOptions } from "./file-names.ts";

const mebibyte = 1024 * 1024;
/** A line becomes one string at most, and V8's strings end at about 512 MiB. */
const largestLineBytes = 256 * mebibyte;

/** What all sources of lines take. */
export interface LineOptions extends NameOptions {
  /** Longest line, in bytes without its end; longer ones follow `onError`. 16 MiB by default. */
  readonly maxLineBytes?: number;
  /** Which files are decompressed: those that begin as one of the formats does (`auto`, the default), none, or all, by the one format that they must have. */
  readonly compression?: CompressionOption;
}

const names = ["maxLineBytes", "compression", "include", "exclude"];

/**
 * @param own names of the options that the source has besides
 * @throws UsageError for an unknown option, or a wrong one of these
 */
export function checkLineOptions(options: LineOptions, own: readonly string[]) {
  checkOptions("files.source()", options, [...own, ...names]);
  const { maxLineBytes = 16 * mebibyte, compression = "auto" } = options;
  if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1 || maxLineBytes > largestLineBytes) {
    throw new UsageError("invalid-options", `maxLineBytes of files.source() cannot be ${maxLineBytes}`, {
      wayOut: `Give a whole number of bytes from 1 to ${largestLineBytes}.`,
    });
  }
  if (!compressionOptions.includes(compression)) {
    throw new UsageError("invalid-options", `compression of files.source() cannot be ${String(compression)}`, {
      wayOut: `It is one of ${compressionOptions.join(", ")}.`,
    });
  }
  return { maxLineBytes, compression, names: new FileNames(options) };
}
