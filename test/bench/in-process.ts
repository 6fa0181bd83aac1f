import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * What a program of this folder prints, as JSON: in a process of its own, so that its memory, its CPU time and what V8 has compiled are its own.
 *
 * @throws Error with what it said if it fails
 */
export async function inProcess<Figures>(
  program: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<Figures> {
  const script = fileURLToPath(new URL(program, import.meta.url));
  // As the command's launcher does: the sources need not be stripped of their types by every thread.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };
  const all = [...nodeOptions, "--conditions=epochflow-source", script, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, all, { env });
  return JSON.parse(stdout);
}
