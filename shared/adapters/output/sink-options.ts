import { UsageError } from "../../errors.ts";
import { PathTemplate } from "../../path-template/template.ts";
import type { CompactOptions } from "../../pipeline/connectors/files.ts";
import type { Compaction } from "./compaction.ts";
import { FileFormat, type FormatOptions } from "./file-format.ts";
import type { Layout } from "./staged-rows.ts";

/** What a files sink may be told of its files, wherever it writes. */
export interface OutputOptions extends FormatOptions {
  /** Folders by fields of rows. */
  readonly partitionBy?: string;
  /** A file ends once it has so many bytes. */
  readonly maxFileBytes?: number;
  /** Merge small files of successive epochs; default: they stay as they are. */
  readonly compact?: CompactOptions;
}

export const outputOptionNames = ["format", "compression", "partitionBy", "maxFileBytes", "compact"] as const;

const hourMs = 3_600_000;

export function compactionOf({ compact }: OutputOptions): Compaction | undefined {
  if (compact === undefined) return undefined;
  const { bytes = 128 << 20, age = hourMs, grace = hourMs } = compact;
  return { bytes, ageMs: age, graceMs: grace };
}

/** @throws UsageError `invalid-path-template`, `invalid-option` */
export function layoutOf({ partitionBy, maxFileBytes, format, compression }: OutputOptions): Layout {
  if (maxFileBytes !== undefined && !(Number.isSafeInteger(maxFileBytes) && maxFileBytes > 0))
    throw new UsageError("invalid-option", `maxFileBytes is ${String(maxFileBytes)}, but must be a positive integer`);
  return {
    format: new FileFormat({ ...(format && { format }), ...(compression && { compression }) }),
    template: partitionBy === undefined ? undefined : new PathTemplate(partitionBy),
    maxFileBytes: maxFileBytes ?? Number.POSITIVE_INFINITY,
  };
}
