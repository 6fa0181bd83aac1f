import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** Why no file system can be mounted here, for a test that needs one; false if one can be. */
export function whyNoMounts(): string | false {
  if (process.platform !== "linux") return "mounts are made by Linux's tools";
  const { status } = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
  return status === 0 ? false : "mounting needs root";
}

/** A small file system in memory, mounted at a folder until the end of its scope. */
export class SmallDisk implements Disposable {
  readonly #folder: string;

  constructor(folder: string, size: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
  }

  /** Its contents stay. Options as of `mount -o`: `size=8m`, `ro`. */
  remount(options: string): void {
    mount("-o", `remount,${options}`, this.#folder);
  }

  /** Its contents go. */
  [Symbol.dispose](): void {
    spawnSync("umount", ["--lazy", this.#folder]);
  }
}

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}
