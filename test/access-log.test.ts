/** The main job, by the program that users run, against what others computed, and against one pass over the lines. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  evaluateLog,
  expectedOfSample,
  missingSample,
  module,
  readLines,
  sampleInput,
  writeLog,
} from "./support/access-log.ts";
import { cli } from "./support/cli.ts";
import { temporaryFolder } from "./support/folder.ts";

async function rowsOf(input: string, folder: string, ...options: string[]): Promise<string[]> {
  const output = join(folder, "out");
  const set = ["--set", `input=${input}`, "--set", `output=${output}`, "--state", join(folder, "state")];
  const run = await cli("run", module, ...set, ...options);
  assert.equal(run.code, 0, run.stderr);
  assert.equal(run.stdout, "");
  const read = await cli("read", output);
  assert.equal(read.code, 0, read.stderr);
  assert.equal(read.stderr, "");
  return read.stdout.trimEnd().split("\n").sort();
}

describe("the main job", () => {
  it("gives the known rows of a real access log", { skip: missingSample }, async () => {
    using folder = temporaryFolder();
    assert.deepEqual(await rowsOf(sampleInput, folder.path), expectedOfSample().sort());
    assert.deepEqual(evaluateLog(readLines(sampleInput)), expectedOfSample().sort());
  });

  for (const options of [[], ["--epoch-records", "977"], ["--epoch-interval", "20ms", "--parallelism", "3"]])
    it(`gives what one pass over a generated log gives ${options.join(" ")}`.trimEnd(), async () => {
      using folder = temporaryFolder();
      const input = join(folder.path, "access.log");
      const lines = writeLog(input, { lines: 30_000, seed: 11, days: 3 });
      assert.deepEqual(await rowsOf(input, folder.path, ...options), evaluateLog(lines));
    });
});
