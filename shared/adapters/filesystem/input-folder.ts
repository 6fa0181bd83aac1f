import type { BigIntStats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { didYouMean } from "../../options.ts";
import { endsLine } from "../lines/lines.ts";
import { errno } from "./durable.ts";
import { type FileIdentity, type FoundFile, fingerprintBytes } from "./identity.ts";
import { InputFile, inodeOf, type ReadableFileSystem, unreadable } from "./input-file.ts";

/** How many files are looked at in parallel: as many as Node's thread pool has threads. */
const parallel = 4;

/**
 * The files below the user's path: the file that it names, or all in the folder that it names, at any depth. Hidden ones (`.x`) and those set
 * aside by other programs (`_x`) are left out, as Spark and Hive do.
 */
export class InputFolder {
  readonly #system: ReadableFileSystem;
  readonly #path: string;

  constructor(system: ReadableFileSystem, path: string) {
    this.#system = system;
    this.#path = path;
  }

  /** Where a file of an identity should be. */
  async pathOf({ file }: FileIdentity): Promise<string> {
    return join((await this.#kind()) === "file" ? dirname(this.#path) : this.#path, file);
  }

  /** All files, by name. Empty if the path is not there. */
  async list(): Promise<FoundFile[]> {
    const kind = await this.#kind();
    if (kind === "missing") return [];
    if (kind === "file") return await this.#look([{ file: basename(this.#path), path: this.#path }]);
    return await this.#look(await this.#walk(this.#path, "", []));
  }

  /** Files beside the one that the path names which have these inodes: a log's rotation renamed it. None for a folder. */
  async renamed(inodes: ReadonlySet<string>): Promise<FoundFile[]> {
    if ((await this.#kind()) === "folder") return [];
    const folder = dirname(this.#path);
    const found = await mapParallel(await this.#names(folder), async (name) => {
      const place = { file: name, path: join(folder, name) };
      const stats = await this.#stat(place.path);
      return stats?.isFile() && inodes.has(inodeOf(stats)) && place.file !== basename(this.#path) ? [place] : [];
    });
    return await this.#look(found.flat());
  }

  /**
   * @param known files that were read to their end: the input itself may be one, and gone
   * @throws UsageError `input-missing` that names what may have been meant
   */
  async checkExists(known: readonly string[]): Promise<void> {
    if ((await this.#kind()) !== "missing") return;
    const name = basename(this.#path);
    if (known.includes(name)) return;
    const meant = didYouMean(name, await this.#names(dirname(this.#path)));
    throw new UsageError("input-missing", `the input ${this.#path} does not exist.${meant}`, {
      wayOut: "Give the path of a file, or of a folder of files, relative to the working directory.",
      place: { file: this.#path },
    });
  }

  async #kind(): Promise<"file" | "folder" | "missing"> {
    const stats = await this.#stat(this.#path);
    if (stats === undefined) return "missing";
    if (stats.isDirectory()) return "folder";
    if (stats.isFile()) return "file";
    throw new UsageError("input-not-a-file", `the input ${this.#path} is neither a file nor a folder`, {
      wayOut: "A pipe or device cannot be read a second time after a failure: write it to a file first.",
      place: { file: this.#path },
    });
  }

  /** Symbolic links are followed, but for those into a folder that contains them. */
  async #walk(path: string, prefix: string, above: readonly string[]): Promise<{ file: string; path: string }[]> {
    const stats = await this.#stat(path);
    const folder = `${stats?.dev}:${stats?.ino}`;
    if (stats === undefined || above.includes(folder)) return [];
    const names = (await this.#names(path)).filter(isVisible).sort();
    const found = await mapParallel(names, async (name) => {
      const place = { file: `${prefix}${name}`, path: join(path, name) };
      const entry = await this.#stat(place.path);
      if (entry === undefined) checkName(place.path);
      if (entry?.isDirectory()) return await this.#walk(place.path, `${place.file}/`, [...above, folder]);
      return entry?.isFile() ? [place] : [];
    });
    return found.flat();
  }

  /** Empty files have no identity yet, so they are left out; as are those that vanish meanwhile. */
  async #look(places: readonly { file: string; path: string }[]): Promise<FoundFile[]> {
    const found = await mapParallel(places, async ({ file, path }) => {
      const input = await InputFile.open(this.#system, path);
      if (input === undefined) return [];
      try {
        const head = await input.head(fingerprintBytes);
        if (head.length === 0) return [];
        const endsInLine = !(await endsLine(input, input.size));
        return [{ file, path, inode: input.inode, size: input.size, head, endsInLine }];
      } finally {
        await input.close();
      }
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

  async #names(folder: string): Promise<string[]> {
    try {
      return await this.#system.readdir(folder);
    } catch (error) {
      if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return [];
      throw unreadable(folder, error);
    }
  }
}

function isVisible(name: string): boolean {
  return !name.startsWith(".") && !name.startsWith("_");
}

/** Node gives such a name with replacement characters, by which the file cannot be opened. */
function checkName(path: string): void {
  if (!path.includes("\uFFFD")) return;
  throw new UsageError("input-name-invalid", `the name of the input ${path} is not UTF-8`, {
    wayOut: "Rename it.",
    place: { file: path },
  });
}

async function mapParallel<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += parallel) {
    results.push(...(await Promise.all(items.slice(at, at + parallel).map(map))));
  }
  return results;
}
