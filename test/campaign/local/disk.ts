import { appendFileSync, mkdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { SmallDisk, whyNoMounts } from "../../bad-input/mounts.ts";

const canMount = whyNoMounts() === false;

/** A file system of its own, where mounting is permitted; else a folder like any other. */
export class Disk implements Disposable {
  /** Otherwise it can neither be filled nor made read-only. */
  readonly isOwn = canMount;
  readonly folder: string;
  readonly #disk: SmallDisk | undefined;

  constructor(folder: string) {
    this.folder = folder;
    if (canMount) this.#disk = new SmallDisk(folder, "48m");
    else mkdirSync(folder);
  }

  /** @param leftBytes that are still free */
  fill(leftBytes: number): void {
    const filler = this.#filler;
    const block = Buffer.alloc(64 * 1024);
    try {
      for (;;) appendFileSync(filler, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
    truncateSync(filler, Math.max(0, statSync(filler).size - leftBytes));
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  /** False: something was being written. */
  makeReadOnly(): boolean {
    try {
      this.#disk!.remount("ro");
      return true;
    } catch {
      return false;
    }
  }

  makeWritable(): void {
    this.#disk!.remount("rw");
  }

  [Symbol.dispose](): void {
    this.#disk?.[Symbol.dispose]();
    if (!this.#disk) rmSync(this.folder, { recursive: true, force: true });
  }

  get #filler(): string {
    return join(this.folder, "filler");
  }
}
