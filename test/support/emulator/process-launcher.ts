import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { answers } from "./health.ts";
import type { LaunchedEmulator, Launcher } from "./launcher.ts";
import { pythonWithMinistack } from "./python.ts";

/** Longest time that it may take to start, on a machine that does much else. */
const patienceMs = 60_000;

/** Of the log, in an error. */
const tailCharacters = 4000;

const program = fileURLToPath(new URL("serve.py", import.meta.url));

/** A Python process of ministack, which ends when its standard input does. */
export const processLauncher: Launcher = {
  name: "process",
  async launch({ folder, port, environment }) {
    const python = await pythonWithMinistack();
    const logFile = join(folder, "emulator.log");
    const log = openSync(logFile, "a");
    const child = spawn(python, ["-B", program], {
      env: {
        ...environmentOfOthers(),
        LOG_LEVEL: "WARNING",
        ...environment,
        GATEWAY_PORT: String(port),
        BIND_HOST: "127.0.0.1",
        TMPDIR: folder,
      },
      // To a file, and not through a pipe of ours that a busy test would let fill.
      stdio: ["pipe", log, log],
    });
    closeSync(log);
    const emulator = new PythonProcess(child, `http://127.0.0.1:${port}`, logFile);
    await emulator.whenStarted();
    return emulator;
  },
};

/** Functions inherit it: how tests are run, as `EPOCHFLOW_KAFKA` says, would be a setting of theirs. */
const environmentOfOthers = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("EPOCHFLOW_")));

class PythonProcess implements LaunchedEmulator {
  readonly endpoint: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #logFile: string;
  #isOver = false;

  constructor(child: ChildProcess, endpoint: string, logFile: string) {
    this.endpoint = endpoint;
    this.#child = child;
    this.#logFile = logFile;
    this.#ended = new Promise((resolve) => {
      for (const event of ["exit", "error"] as const)
        child.once(event, () => {
          this.#isOver = true;
          resolve();
        });
    });
    child.stdin?.on("error", () => {}); // it ended
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async whenStarted(): Promise<void> {
    const giveUpAt = performance.now() + patienceMs;
    while (!(await answers(this.endpoint))) {
      if (this.#isOver || performance.now() > giveUpAt) {
        const what = this.#isOver ? "ended while it started" : `did not start within ${patienceMs / 1000} s`;
        await this.end("SIGKILL");
        throw new Error(`the emulator ${what}:\n${this.log()}`);
      }
      await sleep(50);
    }
    // An emulator that nobody stops shall not keep this process from its end, which is the emulator's too.
    this.#child.unref();
    (this.#child.stdin as Socket).unref();
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.ref();
    this.#child.kill(signal);
    await this.#ended;
  }

  log(): string {
    return readFileSync(this.#logFile, "utf8").slice(-tailCharacters);
  }
}
