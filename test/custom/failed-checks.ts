import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * Titles of the checks that fail, or of those that pass, when a program runs a conformance suite.
 *
 * @param program a module of this folder
 * @param subject its argument
 */
export async function checksOf(program: string, subject: string, outcome: "ok" | "not ok"): Promise<string[]> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const file = fileURLToPath(new URL(program, import.meta.url));
  const args = ["--conditions=epochflow-source", "--test-reporter=tap", file, subject];
  const run = promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 26 });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  const lines = [...stdout.matchAll(/^ {4}(ok|not ok) \d+ - (.*)$/gm)];
  return lines.flatMap(([, ok, title]) => (ok === outcome ? title! : []));
}
