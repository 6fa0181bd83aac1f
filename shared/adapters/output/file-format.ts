import { gzipSync, zstdCompressSync } from "node:zlib";
import { EpochflowError, UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import type { Encoder, FileStyle } from "../../pipeline/topology.ts";
import type { SinkContext } from "../../ports/sink.ts";

export interface FormatOptions {
  readonly format?: Encoder<never>;
  readonly compression?: "none" | "gzip" | "zstd";
}

/** Characters that are gathered before they are encoded and written: measured, longer strings take more time a row. */
const chunkCharacters = 1 << 16;
/** Compressed by themselves, so that a file is a row of members, or frames, which can be read from any of them on, and which may be put together as they are. */
const compressedCharacters = 1 << 20;

const compressions = {
  none: { suffix: "", compress: (chunk: Buffer): Buffer => chunk, characters: chunkCharacters },
  gzip: { suffix: ".gz", compress: (chunk: Buffer): Buffer => gzipSync(chunk), characters: compressedCharacters },
  zstd: {
    suffix: ".zst",
    compress: (chunk: Buffer): Buffer => zstdCompressSync(chunk),
    characters: compressedCharacters,
  },
};

/** Without the encoder's copy of the value, which JSON.parse of a line gives again. */
const jsonLines: Encoder<unknown> = {
  name: "json",
  encode: (row) => toJsonText(row) ?? null,
  file: { extension: "jsonl", ownLineBreaks: true },
};

/** How a sink's rows become the bytes of files. */
export class FileFormat {
  /** Of file names: `csv.gz`. */
  readonly extension: string;
  /** With its line end; undefined: there is none. */
  readonly header: string | undefined;
  /** So many characters of rows make a chunk. */
  readonly chunkCharacters: number;
  readonly #encoder: Encoder<never>;
  readonly #style: FileStyle;
  readonly #compress: (chunk: Buffer) => Buffer;

  constructor({ format = jsonLines, compression = "none" }: FormatOptions) {
    const { suffix, compress, characters } = compressions[compression];
    this.#encoder = format;
    this.#style = format.file ?? { extension: "txt" };
    this.#compress = compress;
    this.chunkCharacters = characters;
    this.extension = this.#style.extension + suffix;
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

  /** A chunk of lines as it is in the file. */
  bytes(lines: string): Buffer {
    return this.#compress(Buffer.from(lines));
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
