import { pipeline, Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { EpochflowError } from "../../errors.ts";
import { damaged, shrank } from "../lines/input-errors.ts";

export type Compression = "gzip" | "zstd";

/** What a source does about compression: look at each file's beginning, take none for compressed, or expect one format. */
export const compressionOptions = ["auto", "none", "gzip", "zstd"] as const;
export type CompressionOption = (typeof compressionOptions)[number];

/** So many bytes of a file's beginning say how it is compressed. */
export const magicBytes = 4;

/** Compressed bytes that are read at once, and decompressed bytes that come at once. */
const blockBytes = 128 * 1024;

/** By the first bytes, whatever the name says. Zstandard's skippable frames, with which `pzstd` begins, count too. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = head;
  if (a === 0x1f && b === 0x8b) return "gzip";
  if (b === 0xb5 && a === 0x28 && c === 0x2f && d === 0xfd) return "zstd";
  return (a & 0xf0) === 0x50 && b === 0x2a && c === 0x4d && d === 0x18 ? "zstd" : undefined;
}

/** The bytes as they are stored. */
export interface RawInput {
  readonly path: string;
  readonly size: number;
  /** Reads at most `length` bytes from `position` into the start of the buffer; fewer only at the end. */
  read(buffer: Buffer, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

/** The compressed bytes end before their stream does: it is still being written, or its end was lost. */
export class IncompleteInput extends Error {}

/**
 * Decompresses all members or frames of an input, one after the other, as `zcat` does. Memory does not grow with what comes out of it: no more is
 * decompressed than is asked for.
 *
 * @throws LossError `input-damaged` for bytes that are no such stream, or do not have its checksum; IncompleteInput
 */
export async function* decompress(
  raw: RawInput,
  format: Compression,
  storedBlockBytes = blockBytes,
): AsyncGenerator<Buffer> {
  const blocks = new Blocks(raw, storedBlockBytes);
  for (let position = 0; position < raw.size; ) {
    const stream = format === "gzip" ? createGunzip({ chunkSize: blockBytes }) : createZstdDecompress();
    const source = Readable.from(blocks.from(position));
    pipeline(source, stream, () => {}); // what fails, fails the iteration below
    try {
      for await (const chunk of stream) yield chunk;
    } catch (error) {
      throw meaningOf(error, raw.path, format);
    } finally {
      source.destroy();
      stream.destroy();
    }
    if (format === "gzip") return; // it goes on to the next member by itself
    // Node's Zstandard ends with the first frame, and leaves what follows.
    position += stream.bytesWritten;
  }
}

/** The stored bytes in blocks. The last one is kept: the next frame mostly begins in it. */
class Blocks {
  readonly #raw: RawInput;
  readonly #blockBytes: number;
  #start = 0;
  #block: Buffer = Buffer.alloc(0);

  constructor(raw: RawInput, blockBytes: number) {
    this.#raw = raw;
    this.#blockBytes = blockBytes;
  }

  async *from(position: number): AsyncGenerator<Buffer> {
    for (let at = position; at < this.#raw.size; ) {
      if (at < this.#start || at >= this.#start + this.#block.length) await this.#read(at);
      const rest = this.#block.subarray(at - this.#start);
      at += rest.length;
      yield rest;
    }
  }

  async #read(position: number): Promise<void> {
    const { path, size } = this.#raw;
    const block = Buffer.allocUnsafe(Math.min(this.#blockBytes, size - position));
    const read = await this.#raw.read(block, block.length, position);
    if (read === 0) throw shrank(path, position, size);
    this.#block = block.subarray(0, read);
    this.#start = position;
  }
}

function meaningOf(error: unknown, path: string, format: Compression): Error {
  if (error instanceof EpochflowError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return new IncompleteInput(path);
  return damaged(path, format, message);
}
