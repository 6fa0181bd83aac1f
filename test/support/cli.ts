import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../cli/bin.mjs", import.meta.url));

export interface Finished {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of its own, and what becomes of it. */
export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when it has said this on standard error; rejects if it ends without. */
  said(what: RegExp): Promise<void>;
  /** What it has said there so far. */
  stderr(): string;
}

interface Surroundings {
  readonly cwd?: string;
  /** Beside what this process has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The very program that `npx epochflow` is. */
export const startCli = (args: readonly string[], surroundings?: Surroundings): Started =>
  startNode([bin, ...args], surroundings);
export const cli = (...args: string[]): Promise<Finished> => startCli(args).finished;
/** The same in a working directory. */
export const cliIn = (cwd: string, ...args: string[]): Promise<Finished> => startCli(args, { cwd }).finished;

export function startNode(args: readonly string[], { env, ...rest }: Surroundings = {}): Started {
  const child = spawn(process.execPath, args, {
    ...rest,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const finished = Promise.all([once(child, "close"), text(child.stdout)]).then(
    ([[code], stdout]): Finished => ({ code, stdout, stderr }),
  );
  const said = async (what: RegExp): Promise<void> => {
    while (!what.test(stderr)) {
      if (child.stderr.readableEnded) throw new Error(`it has not said ${what}, but: ${stderr}`);
      await Promise.race([once(child.stderr, "data"), once(child.stderr, "end")]);
    }
  };
  return { child, finished, said, stderr: () => stderr };
}
