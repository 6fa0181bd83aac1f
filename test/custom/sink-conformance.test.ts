import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brokenSinks, checkSink } from "./broken-sinks.ts";
import { TableSink } from "./table-sink.ts";

checkSink("a table of SQLite", TableSink);

/** Titles of the checks that a sink fails, or of those that it passes. */
async function titles(sink: string, outcome: "ok" | "not ok"): Promise<string[]> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = fileURLToPath(new URL("broken-sinks.ts", import.meta.url));
  const args = ["--conditions=epochflow-source", "--test-reporter=tap", program, sink];
  const run = promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 26 });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  const lines = [...stdout.matchAll(/^ {4}(ok|not ok) \d+ - (.*)$/gm)];
  return lines.flatMap(([, ok, title]) => (ok === outcome ? title! : []));
}

const found = new Set<string>();
for (const [mistake, [, check]] of Object.entries(brokenSinks))
  test(`the suite finds a sink that ${mistake}`, async () => {
    const failed = await titles(mistake, "not ok");
    for (const title of failed.filter((one) => check.test(one))) found.add(title);
    assert.ok(
      failed.some((title) => check.test(title)),
      `it fails only: ${failed.join("; ")}`,
    );
  });

test("each check of the suite has a sink that it finds", async () => {
  const all = await titles("none", "ok");
  assert.ok(all.length > 15);
  assert.deepEqual(
    all.filter((title) => !found.has(title)),
    [],
  );
});
