/**
 * A process that writes to folders, and merges small files as it goes, is killed again and again at random moments. In the end its readers find what a process writes that nobody disturbs, and the
 * folder holds nothing that nobody needs.
 */
import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { readManifests, readRows } from "../shared/adapters/filesystem/reader.ts";
import { collect } from "../shared/testing/collect.ts";
import { startCli } from "./support/cli.ts";
import { readTree, temporaryFolder } from "./support/folder.ts";
import { leftovers } from "./support/inspect.ts";
import { killLoop } from "./support/kill-loop.ts";
import { seededRandom } from "./support/seed.ts";

const module = fileURLToPath(new URL("support/compacting.ts", import.meta.url));
const lines = 7000;

test("killed while it writes and merges, readers find each row once, and nothing is left over", async (context) => {
  using folder = temporaryFolder();
  const [input, output, state] = ["in.txt", "out", "state"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(input, Array.from({ length: lines }, (_, n) => `${n}\n`).join(""));
  const set = ["--set", `input=${input}`, "--set", `output=${output}`, "--state", state];
  const start = () => startCli(["run", module, ...set, "--epoch-records", "50"]);
  const random = seededRandom(context);
  const { last, kills, killsAfterProgress } = await killLoop({ start, state, kills: 5, epochsALife: 25, random });
  assert.equal(last.code, 0, last.stderr);
  assert.ok(killsAfterProgress >= 5, `it was over after ${killsAfterProgress} kills: take more input`);
  // Files are merged at the end of each run.
  for (let round = 0; round < 5; round++) {
    appendFileSync(input, Array.from({ length: 100 }, (_, n) => `${lines + round * 100 + n}\n`).join(""));
    const { child, finished } = start();
    await Promise.race([finished, sleep(500 + random.below(2500))]);
    child.kill("SIGKILL");
    await finished;
  }
  // The sweeps at the ends of these runs remove what the last ones have merged.
  for (const _ of [1, 2]) assert.equal((await start().finished).code, 0);
  context.diagnostic(`killed ${kills} times`);

  const rows = (await collect(readRows(output))).map((row) => Number(row.split(",")[1]));
  assert.deepEqual(
    rows.toSorted((a, b) => a - b),
    Array.from({ length: lines + 500 }, (_, n) => n),
  );
  const named = new Set((await collect(readManifests(output))).flatMap(({ files }) => files.map(({ file }) => file)));
  const present = [...readTree(output).keys()].filter((name) => !name.startsWith(".epochflow"));
  assert.deepEqual(
    present.filter((name) => !named.has(name)),
    [],
  );
  assert.ok(
    present.some((name) => /part-\d{12}-\d{12}\.csv\.gz$/.test(name)),
    "files were merged",
  );
  assert.ok(present.length < lines / 50, `${present.length} files`);
  assert.deepEqual(await leftovers(state, [output]), []);
});
