import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Usage, usageUntilEnd } from "./process-usage.ts";

export interface Limits {
  /** Time after which the program is killed, and has failed. */
  readonly longestMs: number;
  /** Time that it may take to exit once it has said `MARK end`; then it is killed, and has not failed. Default half a minute. */
  readonly longestExitMs?: number;
}

export interface Ended extends Usage {
  /** How it failed, with the end of what it wrote to its standard error. */
  readonly failure: string | undefined;
  /** It was done, and had to be killed to end. */
  readonly hung: boolean;
}

/**
 * A supervised program in a process of its own. It ends with this one, also where a signal ends this one (`setpriv` of util-linux asks Linux for that). It
 * speaks by lines of its standard output; what it complains about goes to `FOLDER/stderr`.
 */
export class Program {
  readonly startedAt = Date.now();
  /** Epoch milliseconds of `MARK name ms`. */
  readonly marks = new Map<string, number>();
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #killedFor: string | undefined;
  #killed = false;
  #hung = false;

  constructor([program, ...parameters]: readonly string[], folder: string, limits: Limits, onLine = (_: string) => {}) {
    this.#folder = folder;
    const stderr = openSync(join(folder, "stderr"), "a");
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", program!, ...parameters], {
      cwd: folder,
      // As the command's launcher does: the sources need not be stripped of their types by every thread.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") },
      stdio: ["pipe", "pipe", stderr],
    });
    closeSync(stderr);
    this.#child.stdin!.on("error", () => {}); // it ended
    const deadline = setTimeout(
      () => this.#killFor(`it did not end within ${limits.longestMs / 1000} s`),
      limits.longestMs,
    );
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const mark = /^MARK (\w+) (\d+)$/.exec(line);
      if (!mark) return onLine(line);
      this.marks.set(mark[1]!, Number(mark[2]));
      if (mark[1] === "end") this.#expectExit(limits.longestExitMs ?? 30_000);
    });
    const endWithUs = () => this.#child.kill("SIGKILL");
    process.prependOnceListener("exit", endWithUs); // before folders are removed in which it writes
    this.ended = this.#end().finally(() => {
      clearTimeout(deadline);
      process.off("exit", endWithUs);
    });
  }

  /** @throws Error if it ends without, or fails to within the limits */
  async mark(name: string): Promise<number> {
    const ended = this.ended.then(({ failure }) => failure ?? `it ended without a word of ${name}`);
    for (;;) {
      const at = this.marks.get(name);
      if (at !== undefined) return at;
      const failure = await Promise.race([ended, sleep(5)]);
      if (failure !== undefined) throw new Error(failure);
    }
  }

  write(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** SIGKILL; that is no failure. */
  async kill(): Promise<Ended> {
    this.#killed = true;
    this.#child.kill("SIGKILL");
    return await this.ended;
  }

  async #end(): Promise<Ended> {
    const closed = once(this.#child, "close") as Promise<[number | null, string | null]>;
    const usage =
      this.#child.pid === undefined ? { cpuSeconds: 0, peakBytes: 0 } : await usageUntilEnd(this.#child.pid);
    const [code, signal] = await closed;
    const how =
      this.#killedFor ?? (code === 0 || this.#killed || this.#hung ? undefined : `it ended with ${signal ?? code}`);
    return { ...usage, hung: this.#hung, failure: how && `${how}, see ${this.#folder}:\n${this.#complaints()}` };
  }

  #killFor(reason: string): void {
    this.#killedFor = reason;
    this.#child.kill("SIGKILL");
  }

  #expectExit(withinMs: number): void {
    const patience = setTimeout(() => {
      this.#hung = true;
      this.#child.kill("SIGKILL");
    }, withinMs);
    this.#child.once("exit", () => clearTimeout(patience));
  }

  #complaints(): string {
    return readFileSync(join(this.#folder, "stderr"), "utf8").slice(-2000);
  }
}
