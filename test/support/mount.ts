import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A small file system of its own, until the end of the test; undefined, and the test skipped, where this user may not mount one. */
export function smallDisk(test: TestContext, bytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "epochflow-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "none", folder], { stdio: "ignore" });
  } catch {
    rmdirSync(folder);
    test.skip("mounting a file system is not permitted here");
    return undefined;
  }
  test.after(() => {
    execFileSync("umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Makes a disk of `smallDisk` read-only, or writable again. */
export function remount(folder: string, mode: "ro" | "rw"): void {
  execFileSync("mount", ["-o", `remount,${mode}`, folder]);
}
