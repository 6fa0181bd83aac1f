import { UsageError } from "../../errors.ts";
import { didYouMean } from "../../options.ts";
import type { Encoder } from "../topology.ts";

export const fileCompressions = ["none", "gzip", "zstd"] as const;

/** Compression of whole files: `.gz` and `.zst`, which the usual tools read. */
export type FileCompression = (typeof fileCompressions)[number];

/** How rows become lines: what `json()`, `text()` and `csv(…)` give. */
export type FileFormat<T> = Encoder<T>;

/** How a sink's files look, as far as it was said. */
export interface FileFormatSettings {
  readonly format?: FileFormat<never>;
  readonly compression?: FileCompression;
}

/** @throws UsageError `invalid-option` */
export function checkFileFormat(
  what: string,
  { format, compression }: { readonly format?: Encoder<never>; readonly compression?: unknown },
): FileFormatSettings {
  if (format !== undefined) checkFormat(what, format);
  if (compression === undefined) return { ...(format && { format }) };
  if (!fileCompressions.includes(compression as FileCompression))
    throw new UsageError(
      "invalid-option",
      `compression of ${what} is ${JSON.stringify(compression)}.${didYouMean(String(compression), fileCompressions)}`,
      { wayOut: `Use ${fileCompressions.map((one) => `"${one}"`).join(" or ")}.` },
    );
  return { ...(format && { format }), compression: compression as FileCompression };
}

function checkFormat(what: string, format: Encoder<never>): void {
  const { encode, name, file }: Partial<Encoder<never>> = format ?? {};
  const isExtension = file === undefined || /^[a-z0-9]{1,16}$/.test(file.extension);
  if (typeof encode === "function" && typeof name === "string" && isExtension) return;
  throw new UsageError("invalid-option", `format of ${what} must be a format`, {
    wayOut: 'For instance json(), csv({ columns: ["key", "count"] }), text() or text((row) => row.word).',
  });
}
