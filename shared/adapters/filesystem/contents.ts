import { InfrastructureError, UsageError } from "../../errors.ts";
import { CompressedInput } from "../compression/compressed-input.ts";
import { CursorPool } from "../compression/cursor-pool.ts";
import { type Compression, type CompressionOption, compressionOf, magicBytes } from "../compression/decompress.ts";
import { decompressedHead, type Measured, measure, tailBytes, tailPrint } from "../compression/measure.ts";
import type { ReadableInput } from "../lines/lines.ts";
import { checkText } from "../lines/text-checks.ts";
import type { FoundFile } from "./found-file.ts";
import { fingerprintBytes } from "./identity.ts";
import { InputFile, type ReadableFileSystem } from "./input-file.ts";

/** A file that is open for reading what it says, compressed or not. */
export interface OpenInput extends ReadableInput {
  readonly path: string;
  close(): Promise<void>;
}

/** Does something with an input that is being opened, and closes it. */
export async function using<T>(opening: Promise<OpenInput>, work: (input: OpenInput) => Promise<T>): Promise<T> {
  const input = await opening;
  try {
    return await work(input);
  } finally {
    await input.close();
  }
}

/** What files say: their bytes, decompressed where they are compressed. */
export class Contents {
  readonly #system: ReadableFileSystem;
  readonly #compression: CompressionOption;
  readonly #pool = new CursorPool();

  constructor(system: ReadableFileSystem, compression: CompressionOption) {
    this.#system = system;
    this.#compression = compression;
  }

  /** Undefined if it is not there. Empty files have an empty head. */
  async look(file: string, path: string): Promise<FoundFile | undefined> {
    const input = await InputFile.open(this.#system, path);
    try {
      return input && (await this.#look(file, input));
    } finally {
      await input?.close();
    }
  }

  /** A compressed file is decompressed as a whole. */
  async measure(found: FoundFile & Required<Pick<FoundFile, "packed">>): Promise<Measured | "incomplete"> {
    const raw = await this.#openRaw(found);
    try {
      return await measure(raw, found.packed.format);
    } finally {
      await raw.close();
    }
  }

  async open(found: FoundFile): Promise<OpenInput> {
    const { packed, path, inode } = found;
    if (packed === undefined) return await this.#openRaw(found);
    const key = `${inode} ${packed.bytes} ${packed.tail}`;
    return new CompressedInput(this.#pool, { key, path, format: packed.format, open: () => this.#openRaw(found) });
  }

  readonly tailAt = async (found: FoundFile, position: number): Promise<string> => {
    if (position === found.size) return found.tail;
    const input = await this.open(found);
    const buffer = Buffer.alloc(Math.min(tailBytes, position));
    try {
      await input.readAll(buffer, buffer.length, position - buffer.length);
    } finally {
      await input.close();
    }
    return tailPrint(buffer);
  };

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #openRaw({ path, inode }: FoundFile): Promise<InputFile> {
    const file = await InputFile.open(this.#system, path);
    if (file?.inode === inode) return file;
    await file?.close();
    throw new InfrastructureError("input-moving", `${path} was moved while it was looked at`, {
      place: { file: path },
    });
  }

  async #look(file: string, input: InputFile): Promise<FoundFile> {
    const { path, inode, size, changedAt } = input;
    const head = await input.bytesBefore(Math.min(size, fingerprintBytes), fingerprintBytes);
    const last = await input.bytesBefore(size, tailBytes);
    const found = { file, path, inode, size, changedAt, tail: tailPrint(last) };
    const format = this.#formatOf(head, path);
    if (format === undefined) {
      checkText(head, path);
      return { ...found, head, endsInLine: last.at(-1) !== 10 };
    }
    return {
      ...found,
      head: await decompressedHead(input, format, fingerprintBytes),
      endsInLine: false,
      packed: { format, bytes: size, tail: found.tail },
      unmeasured: true,
    };
  }

  #formatOf(head: Buffer, path: string): Compression | undefined {
    if (this.#compression === "none" || head.length < magicBytes) return undefined;
    const format = compressionOf(head);
    if (this.#compression === "auto" || format === this.#compression) return format;
    throw new UsageError("input-not-compressed", `${path} is not compressed by ${this.#compression}`, {
      wayOut: "Leave the source's `compression` out, so that each file is read as what it is, or `exclude` this one.",
      place: { file: path },
    });
  }
}
