import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/**
 * A folder that is made once and kept from one test run to the next; test files that need it at the same moment wait for the first. It is there whole
 * or not at all.
 */
export async function cachedFolder(folder: string, fill: (unfinished: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  using _ = await lock(join(dirname(folder), "lock.sqlite"));
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await fill(unfinished);
  renameSync(unfinished, folder);
  return folder;
}

/** Runs a program to its end. `missing` is what to do where there is no such program. */
export async function run(program: string, parameters: readonly string[], missing: string): Promise<void> {
  try {
    await promisify(execFile)(program, parameters, { maxBuffer: 1 << 26 });
  } catch (error) {
    const { code, stdout = "", stderr = "", message } = error as Error & Record<"code" | "stdout" | "stderr", string>;
    const what = code === "ENOENT" ? `there is no such program. ${missing}` : `${stdout}${stderr}`.trim() || message;
    throw new Error(`${program} ${parameters.join(" ")}: ${what}`, { cause: error });
  }
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
