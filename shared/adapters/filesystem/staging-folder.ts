import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { SinkContext } from "../../ports/sink.ts";
import { Limiter } from "../output/limiter.ts";
import { stagedFileName, stagedName } from "../output/names.ts";
import type { StagedFile, Staging } from "../output/staging.ts";
import { makeFolder, remove } from "./durable.ts";
import { fileSystemError } from "./errors.ts";
import type { OutputLayout } from "./output-layout.ts";

/** So many files of a task are open at once: a process may have a thousand, and several tasks. */
const mostOpenFiles = 32;
/** A disk does several of these about as fast as one. */
const syncsAtOnce = 8;

/** A task's files in the staging folder. Chunks are written one after the other. */
export class StagingFolder implements Staging<object> {
  readonly chunkBytes = 1;
  readonly mostHeldBytes = 1 << 25;
  readonly takesSmallChunks = true;
  readonly #layout: OutputLayout;
  readonly #context: SinkContext;
  readonly #syncs = new Limiter(syncsAtOnce);
  readonly #paths: string[] = [];
  /** The one that was used last stands last. */
  readonly #handles = new Map<string, FileHandle>();
  #queuedBytes = 0;
  #written: Promise<void> = Promise.resolve();

  constructor(layout: OutputLayout, context: SinkContext) {
    this.#layout = layout;
    this.#context = context;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  written(): Promise<void> {
    return this.#written;
  }

  file(number: number): StagedFile<object> {
    const path = join(this.#layout.staging, stagedFileName(stagedName(this.#context), number));
    let flags = "wx";
    return {
      append: (chunk) => {
        this.#queue(chunk, path, flags);
        flags = "a";
      },
      end: async () => {
        await this.#written;
        await this.#syncs.run(() => this.#named(() => this.#sync(path)));
        return {};
      },
    };
  }

  async discard(): Promise<void> {
    await this.#written.catch(() => {});
    for (const handle of this.#handles.values()) await handle.close().catch(() => {});
    for (const path of this.#paths) await remove(path).catch(() => {});
  }

  /** Hands a chunk to the disk, behind what it has got already. */
  #queue(chunk: Buffer, path: string, flags: string): void {
    this.#queuedBytes += chunk.length;
    this.#written = this.#written.then(() => this.#named(() => this.#append(chunk, path, flags)));
    this.#written.catch(() => {}); // whoever waits next hears of it
  }

  async #append(chunk: Buffer, path: string, flags: string): Promise<void> {
    const handle = this.#taken(path) ?? (await this.#open(path, flags));
    this.#handles.set(path, handle);
    await handle.writeFile(chunk);
    this.#queuedBytes -= chunk.length;
  }

  async #open(path: string, flags: string): Promise<FileHandle> {
    for (const [oldest, handle] of this.#handles) {
      if (this.#handles.size < mostOpenFiles) break;
      this.#handles.delete(oldest);
      await handle.close();
    }
    if (flags === "wx") {
      await makeFolder(this.#layout.staging);
      this.#paths.push(path);
    }
    return await open(path, flags);
  }

  async #sync(path: string): Promise<void> {
    const handle = this.#taken(path) ?? (await open(path, "r+"));
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  #taken(path: string): FileHandle | undefined {
    const handle = this.#handles.get(path);
    this.#handles.delete(path);
    return handle;
  }

  async #named(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw fileSystemError(error, `write rows of sink ${this.#context.sink}`, this.#layout.root);
    }
  }
}
