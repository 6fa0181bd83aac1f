import { damaged } from "../lines/input-errors.ts";
import type { ReadableInput } from "../lines/lines.ts";
import { Cursor } from "./cursor.ts";
import type { CursorPool } from "./cursor-pool.ts";
import { type Compression, IncompleteInput, type RawInput } from "./decompress.ts";

/** What a compressed input is read by. `key` tells its bytes from those of any other. */
export interface Opening {
  readonly key: string;
  readonly path: string;
  readonly format: Compression;
  open(): Promise<RawInput>;
}

/** A compressed input as its decompressed bytes: any position can be read, but only going on is cheap. */
export class CompressedInput implements ReadableInput {
  /** Reading backwards begins anew. */
  readonly sequential = true;
  readonly #pool: CursorPool;
  readonly #opening: Opening;
  #cursor: Cursor | undefined;

  constructor(pool: CursorPool, opening: Opening) {
    this.#pool = pool;
    this.#opening = opening;
  }

  get path(): string {
    return this.#opening.path;
  }

  /** @throws LossError `input-damaged`, `input-shrank` */
  async readAll(buffer: Buffer, length: number, position: number): Promise<void> {
    if (length === 0) return;
    if (this.#cursor && this.#cursor.position > position) await this.close();
    this.#cursor ??= await this.#cursorAt(position);
    try {
      await this.#cursor.readAll(buffer, length, position);
    } catch (error) {
      await this.#drop();
      if (error instanceof IncompleteInput) throw damaged(this.path, this.#opening.format, "it ends too early");
      throw error;
    }
  }

  async close(): Promise<void> {
    const cursor = this.#cursor;
    this.#cursor = undefined;
    if (cursor) await this.#pool.give(this.#opening.key, cursor);
  }

  async #cursorAt(position: number): Promise<Cursor> {
    const { key, format, open } = this.#opening;
    return this.#pool.take(key, position) ?? new Cursor(await open(), format);
  }

  async #drop(): Promise<void> {
    await this.#cursor?.close();
    this.#cursor = undefined;
  }
}
