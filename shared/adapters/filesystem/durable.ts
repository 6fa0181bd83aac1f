import { randomUUID } from "node:crypto";
import { link, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Code of a failed system call, "ENOENT"; undefined for another error. */
export function errno(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What an operation gives, or undefined if the file that it names is not there. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (errno(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the names in a folder survive a power failure, which a file's own sync does not. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** How often a folder is tried whose parent may be removed meanwhile. Some file systems say for ever that it is missing, though it is there: `/proc`, automounters. */
const triesOfFolder = 3;

/** Makes a folder with its parents; each that is new survives a power failure once this resolves. */
export async function makeFolder(path: string, tries = triesOfFolder): Promise<void> {
  try {
    // Not `recursive`, which reports a read-only disk as a missing folder.
    await mkdir(path);
  } catch (error) {
    if (errno(error) === "ENOENT" && tries > 1) {
      await makeFolder(dirname(resolve(path)));
      return await makeFolder(path, tries - 1);
    }
    if ((await unlessMissing(stat(path)))?.isDirectory()) return;
    throw error;
  }
  await syncFolder(dirname(resolve(path)));
}

/** Removes a file; one that is not there is fine. */
export async function remove(path: string): Promise<void> {
  await unlessMissing(unlink(path));
}

export type Published = "published" | "exists";

/** What `publish` uses of the system: a test can have it refuse links. */
export interface NamingSystem {
  readonly link: typeof link;
  readonly rename: typeof rename;
}

/** How a file system says that it has no hard links: FAT, some network and user-space ones. */
const linksRefused = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Gives a file a second, final name, unless that is taken; durable once this resolves, whoever published it. Without hard links it is checked and
 * renamed, which is safe only where those who publish the same name do so one after the other.
 */
export async function publish(from: string, to: string, system = { link, rename }): Promise<"published" | "exists"> {
  const outcome = await linkOrRename(from, to, system);
  await syncFolder(dirname(to));
  return outcome;
}

/** Like `publish`, but a power failure may undo it. */
export async function linkOrRename(
  from: string,
  to: string,
  system = { link, rename },
): Promise<"published" | "exists"> {
  try {
    await system.link(from, to);
    return "published";
  } catch (error) {
    const code = errno(error);
    if (code === "EEXIST") return "exists";
    if (code === undefined || !linksRefused.has(code)) throw error;
  }
  if (await unlessMissing(stat(to))) return "exists";
  await system.rename(from, to);
  return "published";
}

/**
 * Creates a file whole and durably, unless it exists: no reader and no crash ever sees a part of it. `temporary` is a folder on the same file
 * system; a crash may leave a file there whose name begins with `prefix`.
 */
export async function createWhole(
  path: string,
  content: FileContent,
  temporary: { readonly folder: string; readonly prefix: string },
  system?: NamingSystem,
): Promise<Published> {
  const draft = join(temporary.folder, `${temporary.prefix}.${randomUUID()}`);
  try {
    await writeNew(draft, content);
    return await publish(draft, path, system);
  } finally {
    await remove(draft);
  }
}

/** What a file's `writeFile` takes; chunks are written as they come. */
export type FileContent = string | Uint8Array | AsyncIterable<Buffer> | Iterable<Buffer>;

async function writeNew(path: string, content: FileContent): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
