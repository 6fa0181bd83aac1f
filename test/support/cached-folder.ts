import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/**
 * Where what tests install is kept from one run to the next, outside of the project: `EPOCHFLOW_CACHE`, or `epochflow` where the user's caches are (XDG Base
 * Directory Specification). It may be removed at any time.
 */
export const cache = process.env.EPOCHFLOW_CACHE ?? join(userCaches(), "epochflow");

function userCaches(): string {
  const { XDG_CACHE_HOME = "" } = process.env;
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
}

/** The sizes of all files, by name. */
const listing = ".complete.json";

/**
 * A folder that is made once and kept from one test run to the next; test files that need it at the same moment wait for the first. One that lacks something
 * is made anew.
 */
export async function cachedFolder(folder: string, fill: (unfinished: string) => Promise<void>): Promise<string> {
  if (isComplete(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  using _ = await lock(join(dirname(folder), "lock.sqlite"));
  if (isComplete(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  for (const old of [folder, unfinished]) rmSync(old, { recursive: true, force: true });
  await fill(unfinished);
  writeFileSync(join(unfinished, listing), JSON.stringify(sizesIn(unfinished)));
  renameSync(unfinished, folder);
  return folder;
}

/** Caches are cleaned by others, file by file. */
function isComplete(folder: string): boolean {
  try {
    const sizes: Record<string, number> = JSON.parse(readFileSync(join(folder, listing), "utf8"));
    return Object.entries(sizes).every(([name, size]) => statSync(join(folder, name)).size === size);
  } catch {
    return false;
  }
}

function sizesIn(folder: string): Record<string, number> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => [name, statSync(join(folder, name))] as const).filter(([, stat]) => stat.isFile());
  return Object.fromEntries(files.map(([name, { size }]) => [name, size]));
}

/** Runs a program to its end, and resolves to what it printed. `missing` is what to do where there is no such program. */
export async function run(program: string, parameters: readonly string[], missing: string): Promise<string> {
  try {
    return (await promisify(execFile)(program, parameters, { maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const { code, stdout = "", stderr = "", message } = error as Error & Record<"code" | "stdout" | "stderr", string>;
    const what = code === "ENOENT" ? `there is no such program. ${missing}` : `${stdout}${stderr}`.trim() || message;
    throw new Error(`${program} ${parameters.join(" ")}: ${what}`, { cause: error });
  }
}

/** Whether the PATH leads to a program. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A lock among processes that the operating system takes back when its holder dies: an exclusive transaction of SQLite. */
async function lock(file: string): Promise<Disposable> {
  const database = new DatabaseSync(file, { timeout: 100 });
  for (;;) {
    try {
      database.exec("BEGIN EXCLUSIVE");
      return { [Symbol.dispose]: () => database.close() };
    } catch (error) {
      if (!(error instanceof Error && /locked/.test(error.message))) throw error;
      await sleep(100);
    }
  }
}
