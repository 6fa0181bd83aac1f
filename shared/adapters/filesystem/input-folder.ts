import type { BigIntStats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { didYouMean } from "../../options.ts";
import type { FileNames } from "../lines/file-names.ts";
import { isVisible } from "../lines/file-names.ts";
import { errno } from "./durable.ts";
import type { FileIdentity } from "./identity.ts";
import { inodeOf, type ReadableFileSystem, unreadable } from "./input-file.ts";

/** How many files are looked at in parallel: as many as Node's thread pool has threads. */
const parallel = 4;

/** A file's path below the input folder, where that is, and what the system says of it. */
export interface Place {
  readonly file: string;
  readonly path: string;
  readonly inode: string;
  readonly size: number;
  /** When its bytes or its name changed last; epoch milliseconds. */
  readonly changedAt: number;
}

/** The files below the user's path: the file that it names, or those in the folder that it names, at any depth, that are chosen by their names. */
export class InputFolder {
  readonly #system: ReadableFileSystem;
  readonly #path: string;
  readonly #names: FileNames;

  constructor(system: ReadableFileSystem, path: string, names: FileNames) {
    this.#system = system;
    this.#path = path;
    this.#names = names;
  }

  /** Where a file of an identity should be. */
  async pathOf({ file }: FileIdentity): Promise<string> {
    return join((await this.#kind()) === "file" ? dirname(this.#path) : this.#path, file);
  }

  /**
   * The input, by name, and what lies beside it: that a rotation gives a file a name which is not chosen, or another than the one that the path names, does not lose the rest
   * of it. `input` is empty if the path is not there.
   */
  async places(): Promise<{ input: Place[]; beside(): Promise<Place[]> }> {
    const kind = await this.#kind();
    if (kind === "folder") {
      const all = await this.#walk(this.#path, "", []);
      const input = all.filter(({ file }) => this.#names.isInput(file));
      return { input, beside: async () => all.filter(({ file }) => !this.#names.isInput(file)) };
    }
    const folder = dirname(this.#path);
    const name = basename(this.#path);
    const input = kind === "file" ? await this.#files(folder, [name]) : [];
    const beside = async () =>
      await this.#files(folder, (await this.#list(folder)).filter((one) => one !== name).sort());
    return { input, beside };
  }

  /**
   * @param known files that were read to their end: the input itself may be one, and gone
   * @throws UsageError `input-missing` that names what may have been meant
   */
  async checkExists(known: readonly string[]): Promise<void> {
    if ((await this.#kind()) !== "missing") return;
    const name = basename(this.#path);
    if (known.includes(name)) return;
    const meant = didYouMean(name, await this.#list(dirname(this.#path)));
    throw new UsageError("input-missing", `the input ${this.#path} does not exist.${meant}`, {
      wayOut: "Give the path of a file, or of a folder of files, relative to the working directory.",
      place: { file: this.#path },
    });
  }

  async #kind(): Promise<"file" | "folder" | "missing"> {
    const stats = await this.#stat(this.#path);
    if (stats === undefined) return "missing";
    if (stats.isDirectory()) return "folder";
    if (stats.isFile()) return this.#checkUnchosen();
    throw new UsageError("input-not-a-file", `the input ${this.#path} is neither a file nor a folder`, {
      wayOut: "A pipe or device cannot be read a second time after a failure: write it to a file first.",
      place: { file: this.#path },
    });
  }

  #checkUnchosen(): "file" {
    if (!this.#names.choose) return "file";
    throw new UsageError(
      "input-not-a-folder",
      `include and exclude choose among a folder's files, and ${this.#path} is a file`,
      {
        wayOut: "Give the path of the folder, or leave them out.",
        place: { file: this.#path },
      },
    );
  }

  /** Symbolic links are followed, but for those into a folder that contains them. */
  async #walk(path: string, prefix: string, above: readonly string[]): Promise<Place[]> {
    const stats = await this.#stat(path);
    const folder = `${stats?.dev}:${stats?.ino}`;
    if (stats === undefined || above.includes(folder)) return [];
    const names = (await this.#list(path)).filter(isVisible).sort();
    const found = await mapParallel(names, async (name) => {
      const at = join(path, name);
      const file = `${prefix}${name}`;
      const entry = await this.#stat(at);
      if (entry === undefined) checkName(at);
      if (entry?.isDirectory()) return await this.#walk(at, `${file}/`, [...above, folder]);
      return entry?.isFile() ? [placeOf(file, at, entry)] : [];
    });
    return found.flat();
  }

  async #files(folder: string, names: readonly string[]): Promise<Place[]> {
    const found = await mapParallel(names, async (name) => {
      const path = join(folder, name);
      const entry = await this.#stat(path);
      return entry?.isFile() ? [placeOf(name, path, entry)] : [];
    });
    return found.flat();
  }

  async #stat(path: string): Promise<BigIntStats | undefined> {
    try {
      return await this.#system.stat(path, { bigint: true });
    } catch (error) {
      if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
      throw unreadable(path, error);
    }
  }

  async #list(folder: string): Promise<string[]> {
    try {
      return await this.#system.readdir(folder);
    } catch (error) {
      if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return [];
      throw unreadable(folder, error);
    }
  }
}

function placeOf(file: string, path: string, stats: BigIntStats): Place {
  return { file, path, inode: inodeOf(stats), size: Number(stats.size), changedAt: Number(stats.ctimeMs) };
}

/** Node gives such a name with replacement characters, by which the file cannot be opened. */
function checkName(path: string): void {
  if (!path.includes("\uFFFD")) return;
  throw new UsageError("input-name-invalid", `the name of the input ${path} is not UTF-8`, {
    wayOut: "Rename it.",
    place: { file: path },
  });
}

export async function mapParallel<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += parallel) {
    results.push(...(await Promise.all(items.slice(at, at + parallel).map(map))));
  }
  return results;
}
