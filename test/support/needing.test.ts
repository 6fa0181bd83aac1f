import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "./folder.ts";

const needing = JSON.stringify(new URL("needing.ts", import.meta.url));

/** What a run of such a test file prints, on a machine with these variables and no programs. */
async function outputOf(folder: string, need: string, environment: Record<string, string>): Promise<string> {
  const file = join(folder, "a.test.mjs");
  const text = `import { ${need}, needing } from ${needing};
    const { before, suite, test } = await needing(${need});
    before(() => { throw new Error("it runs") });
    test("the first", () => {});
    suite("the second", () => test("inner", () => {}));`;
  writeFileSync(file, text);
  const { NODE_TEST_CONTEXT: _, CI: __, EPOCHFLOW_EMULATOR: ___, ...inherited } = process.env;
  return await new Promise((resolve) => {
    const env = { ...inherited, PATH: folder, ...environment };
    const args = ["--conditions=epochflow-source", "--test", "--test-reporter=spec", file];
    execFile(process.execPath, args, { env }, (_error, stdout) => resolve(stdout));
  });
}

for (const [need, environment, install] of [
  ["anEmulator", {}, /apt-get install python3-venv.*apt-get install docker\.io/],
  ["anEmulator", { EPOCHFLOW_EMULATOR: "process" }, /apt-get install python3-venv/],
  ["anEmulator", { EPOCHFLOW_EMULATOR: "containers" }, /there is no program docker.*apt-get install docker\.io/],
  ["aBroker", {}, /apt-get install default-jdk-headless maven/],
] as const)
  test(`without ${JSON.stringify(environment)} ${need}: tests are skipped by name, with what to install`, async (context) => {
    const printed = await outputOf(folderOf(context), need, environment);
    for (const name of ["the first", "the second"])
      assert.match(printed, new RegExp(`﹣ ${name} .*${install.source}`), printed);
  });

test("in CI nothing is skipped", async (context) => {
  const printed = await outputOf(folderOf(context), "aBroker", { CI: "true" });
  assert.match(printed, /✖ the first/);
  assert.match(printed, /it runs/);
});
