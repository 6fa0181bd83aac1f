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
}

/** The very program that `npx epochflow` is. */
export const startCli = (...args: string[]): Started => startNode([bin, ...args]);
export const cli = (...args: string[]): Promise<Finished> => startCli(...args).finished;

/** The same in a working directory. */
export const cliIn = (cwd: string, ...args: string[]): Promise<Finished> => startNode([bin, ...args], { cwd }).finished;

export function startNode(args: readonly string[], options: { readonly cwd?: string } = {}): Started {
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  return { child, finished: finish(child) };
}

async function finish(child: ChildProcess): Promise<Finished> {
  const [[code], stdout, stderr] = await Promise.all([once(child, "close"), text(child.stdout!), text(child.stderr!)]);
  return { code, stdout, stderr };
}
