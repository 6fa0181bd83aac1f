import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../../../local/run.ts";
import { folderOf } from "../../support/folder.ts";
import { countKeys } from "./pipeline.ts";
import { append, check, outOfOrderMs, type Workload } from "./workload.ts";

/** Exit code and lines of JSON. */
function scale(...options: string[]): Promise<{ code: number; lines: Record<string, unknown>[]; told: string }> {
  const script = fileURLToPath(new URL("run.ts", import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, ["--conditions=epochflow-source", script, ...options], (error, stdout, told) => {
      const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
      resolve({ code: Number(error?.code ?? 0), lines: lines.map((line) => JSON.parse(line)), told });
    });
  });
}

suite("bench:scale, in a quick look", () => {
  test("measures points, and judges them", async () => {
    const { code, lines, told } = await scale("--quick", "--only", "windows", "--tolerance", "1000");
    assert.equal(code, 0, told);
    const points = lines.filter(({ kind }) => kind === "point");
    assert.deepEqual(
      points.map(({ value, rows }) => [value, rows]),
      [
        [1, 2000],
        [100, 2000],
      ],
    );
    const verdicts = lines.filter(({ kind }) => kind === "verdict");
    assert.deepEqual(
      verdicts.map(({ what, holds }) => [what, holds]),
      [
        ["CPU a record", true],
        ["snapshot bytes an epoch", true],
      ],
    );
  });

  test("fails if a verdict does not hold", async () => {
    const { code, lines } = await scale("--quick", "--only", "windows", "--tolerance", "0");
    assert.equal(code, 1);
    assert.deepEqual(
      lines.flatMap(({ what, holds }) => (holds === false ? [what] : [])),
      ["CPU a record"],
    );
  });

  test("knows its options", async () => {
    const { code, told } = await scale("--only", "nothing");
    assert.equal(code, 2);
    assert.match(told, /--only knows input, keys, windows, .*not "nothing"/);
  });
});

suite("results that are not those of the records are found", () => {
  for (const workload of [
    { keys: 7, windows: 0 },
    { keys: 50, windows: 4 },
  ] satisfies Workload[])
    test(`${workload.keys} keys, ${workload.windows} open windows`, async (t) => {
      const folder = folderOf(t);
      const [input, output] = [join(folder, "input"), join(folder, "output")];
      mkdirSync(input);
      append(workload, input, 3, 0, 500);
      const definition = countKeys({ path: input }, output, outOfOrderMs(workload));
      const { outcome } = await run(definition, { state: join(folder, "state") });
      assert.equal(outcome, "done");
      assert.equal(await check(workload, 500, output), workload.windows === 0 ? 7 : 200);
      await assert.rejects(check(workload, 501, output), /wrong/);
      await assert.rejects(check(workload, 499, output), /wrong/);
      // A key or a window more than there are results.
      await assert.rejects(check({ ...workload, keys: workload.keys + 1 }, 500, output), /wrong|missing/);
    });
});
