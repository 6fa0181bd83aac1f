import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rmdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EpochflowError } from "../../errors.ts";
import { checkObjectKey, checkObjectPrefix, isObjectKeyPart, objectExists } from "../../ports/object-key.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { errno, linkOrRename, remove, syncFolder, unlessMissing } from "./durable.ts";
import { fileSystemError } from "./errors.ts";

/** Holds objects that are being written. It is no part of a key, so it can hold no object. */
const partialFolder = "~partial";
/** How often `put` makes its folder anew, when others remove it at the same moment because it is empty. */
const patience = 100;

/**
 * Objects as files of a folder; keys are paths. An object is written to the folder `~partial` and then linked to its name, so that it is there whole or
 * not at all, and never replaces another. What a crash leaves in `~partial` is nobody's object; `sweep` removes it.
 *
 * Since a folder cannot have the name of a file, no key may continue another by `/`. Errors of the file system are InfrastructureErrors
 * (`disk-full`, `not-permitted`, `read-only`, `not-a-folder`, …) that name the folder.
 */
export class FileSystemObjectStore implements ObjectStore {
  readonly #root: string;
  readonly #partial: string;

  /** @param root the folder, made by the first `put` if it is not there */
  constructor(root: string) {
    this.#root = resolve(root);
    this.#partial = join(this.#root, partialFolder);
  }

  async put(key: string, chunks: readonly Uint8Array[], { durable }: { durable: boolean }): Promise<void> {
    const path = this.#pathOf(key);
    const partial = join(this.#partial, randomUUID());
    await this.#named("store an object", async () => {
      try {
        await this.#write(partial, chunks, durable);
        if ((await publish(partial, path)) === "exists") throw objectExists(key, this.#root);
        if (durable) await this.#syncFoldersOf(path);
      } finally {
        await remove(partial);
      }
    });
  }

  async get(key: string, range?: { start: number; end: number }, into?: Uint8Array): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(key);
    return await this.#named("read an object", async () => {
      const file = await unlessMissing(open(path));
      if (!file) return undefined;
      try {
        return await readRange(file, range, into);
      } finally {
        await file.close();
      }
    });
  }

  async *list(prefix: string): AsyncIterable<string> {
    checkObjectPrefix(prefix);
    yield* this.#listFolder(prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix);
  }

  async delete(keys: readonly string[]): Promise<void> {
    const paths = keys.map((key) => this.#pathOf(key));
    await this.#named("delete an object", async () => {
      for (const path of paths) await remove(path);
      for (const folder of new Set(paths.map(dirname))) await this.#removeEmpty(folder);
    });
  }

  /**
   * Removes what crashes have left half written; returns how many files. For the owner of the store alone, before it writes anything: the put of
   * another process would fail, though with an error that is tried again.
   */
  async sweep(): Promise<number> {
    return await this.#named("remove what a crash left", async () => {
      const left = (await unlessMissing(readdir(this.#partial))) ?? [];
      for (const name of left) await remove(join(this.#partial, name));
      return left.length;
    });
  }

  async #write(partial: string, chunks: readonly Uint8Array[], durable: boolean): Promise<void> {
    const file = await openNew(partial);
    try {
      await writeAll(file, chunks);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
  }

  /** All folders down to the object, whoever made them: another put may have made one a moment ago, and not synced it yet. At once, since none waits for another. */
  async #syncFoldersOf(path: string): Promise<void> {
    const folders = [dirname(this.#root)];
    for (let folder = dirname(path); folder !== folders[0]; folder = dirname(folder)) folders.push(folder);
    await Promise.all(folders.map((folder) => unlessMissing(syncFolder(folder))));
  }

  /** Removes a folder and those above it, as long as they are empty. A put at the same moment makes its folder again. */
  async #removeEmpty(path: string): Promise<void> {
    for (let folder = path; folder !== this.#root; folder = dirname(folder)) {
      try {
        await rmdir(folder);
      } catch (error) {
        const code = errno(error);
        if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOENT") return;
        throw error;
      }
    }
  }

  async *#listFolder(folder: string, prefix: string): AsyncIterable<string> {
    for (const entry of await this.#named("list objects", () => this.#entriesOf(folder))) {
      const key = folder + entry.name;
      if (!isObjectKeyPart(entry.name) || !key.startsWith(prefix)) continue;
      if (entry.isDirectory()) yield* this.#listFolder(`${key}/`, prefix);
      else if (entry.isFile()) yield key;
    }
  }

  /** None for a folder that is not there, or that is an object. */
  async #entriesOf(folder: string): Promise<Dirent[]> {
    try {
      return await readdir(join(this.#root, folder), { withFileTypes: true });
    } catch (error) {
      if (errno(error) === "ENOENT" || (errno(error) === "ENOTDIR" && folder !== "")) return [];
      throw error;
    }
  }

  #pathOf(key: string): string {
    checkObjectKey(key);
    return join(this.#root, key);
  }

  async #named<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof EpochflowError || errno(error) === undefined) throw error;
      throw fileSystemError(error, doing, this.#root);
    }
  }
}

async function openNew(path: string): Promise<FileHandle> {
  const file = await unlessMissing(open(path, "wx"));
  if (file) return file;
  await mkdir(dirname(path), { recursive: true });
  return await open(path, "wx");
}

/** All chunks by as few calls as the system takes. */
async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let left = chunks.filter(({ length }) => length > 0);
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left);
    left = after(left, bytesWritten);
  }
}

/** What is left of the chunks behind so many bytes. */
function after(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skipped = bytes;
  let whole = 0;
  while (whole < chunks.length && chunks[whole]!.length <= skipped) skipped -= chunks[whole++]!.length;
  const [first, ...others] = chunks.slice(whole);
  return first === undefined ? [] : [first.subarray(skipped), ...others];
}

async function publish(partial: string, path: string): Promise<"published" | "exists"> {
  for (let tries = 1; ; tries++) {
    try {
      return await linkOrRename(partial, path);
    } catch (error) {
      if (errno(error) !== "ENOENT" || tries === patience) throw error;
      await unlessMissing(mkdir(dirname(path), { recursive: true }));
    }
  }
}

async function readRange(
  file: FileHandle,
  range?: { start: number; end: number },
  into?: Uint8Array,
): Promise<Uint8Array | undefined> {
  const status = await file.stat();
  if (status.isDirectory()) return undefined;
  const start = Math.min(range?.start ?? 0, status.size);
  const length = Math.max(0, Math.min(range?.end ?? status.size, status.size) - start);
  // Its own memory, not a slice of Node's pool, so that the receiver may transfer it to another thread.
  const bytes = into !== undefined && into.length >= length ? into : Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
