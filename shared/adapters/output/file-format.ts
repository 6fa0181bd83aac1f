import { gzipSync, zstdCompressSync } from "node:zlib";
import { EpochflowError, UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import type { Encoder, FileStyle } from "../../pipeline/topology.ts";
import type { SinkContext } from "../../ports/sink.ts";

export interface FormatOptions {
  readonly format?: Encoder<never>;
  readonly compression?: "none" | "gzip" | "zstd";
}

/** Bytes of lines that are gathered before they are written. */
const chunkBytes = 1 << 16;
/** Compressed by themselves, so that a file is a row of members, or frames, which can be read from any of them on, and which may be put together as they are. */
const compressedBytes = 1 << 20;

const compressions = {
  none: { suffix: "", compress: (chunk: Buffer): Buffer => chunk, bytes: chunkBytes },
  gzip: { suffix: ".gz", compress: (chunk: Buffer): Buffer => gzipSync(chunk), bytes: compressedBytes },
  zstd: { suffix: ".zst", compress: (chunk: Buffer): Buffer => zstdCompressSync(chunk), bytes: compressedBytes },
};

/** Without the encoder's copy of the value, which JSON.parse of a line gives again. */
const jsonLines: Encoder<unknown> = {
  name: "json",
  encode: (row) => toJsonText(row) ?? null,
  isJson: true,
  file: { extension: "jsonl", ownLineBreaks: true },
};

/** How a sink's rows become the bytes of files. */
export class FileFormat {
  /** Of file names: `csv.gz`. */
  readonly extension: string;
  /** With its line end; undefined: there is none. */
  readonly header: string | undefined;
  /** So many bytes of lines make a chunk. */
  readonly chunkBytes: number;
  /** A line is the row's JSON and this; undefined: it is something else. */
  readonly jsonLineEnd: string | undefined;
  /** A chunk of lines as it is in the file; the same bytes, where they are not compressed. */
  readonly compress: (chunk: Buffer) => Buffer;
  readonly #encoder: Encoder<never>;
  readonly #style: FileStyle;

  constructor({ format = jsonLines, compression = "none" }: FormatOptions) {
    const { suffix, compress, bytes } = compressions[compression];
    this.#encoder = format;
    this.#style = format.file ?? { extension: "txt" };
    this.compress = compress;
    this.chunkBytes = bytes;
    this.extension = this.#style.extension + suffix;
    this.jsonLineEnd = format.isJson === true && this.#style.ownLineBreaks === true ? this.#lineEnd : undefined;
    this.header = this.#style.header === undefined ? undefined : this.#style.header + this.#lineEnd;
  }

  /** A row as a line, with its end. @throws UserCodeError for a row that cannot be written so */
  line(row: unknown, context: SinkContext): string {
    let text: string | Uint8Array | null;
    try {
      text = this.#encoder.encode(row as never);
    } catch (error) {
      throw this.#refused(context, error instanceof Error ? error.message : String(error), error);
    }
    if (typeof text !== "string") throw this.#refused(context, `it is of type ${typeof row}`);
    if (this.#style.ownLineBreaks !== true) this.#checkLine(text, context);
    return text + this.#lineEnd;
  }

  get #lineEnd(): string {
    return this.#style.lineEnd ?? "\n";
  }

  #checkLine(text: string, context: SinkContext): void {
    if (/[\r\n]/.test(text)) throw this.#refused(context, "it has a line break in it");
    if (!text.isWellFormed()) throw this.#refused(context, "it has half a surrogate pair");
  }

  #refused({ pipeline, sink, epoch, attempt }: SinkContext, reason: string, cause?: unknown): UserCodeError {
    const { name } = this.#encoder;
    const spoken = name === "text" ? "a line of text" : name.toUpperCase();
    return new UserCodeError(`row-not-${name}`, `sink ${sink}: a row cannot be written as ${spoken}: ${reason}`, {
      wayOut: (cause instanceof EpochflowError && cause.wayOut) || "Map rows to plain values before the sink.",
      place: { pipeline, sink, epoch, attempt },
      cause,
    });
  }
}
