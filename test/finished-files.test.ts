/** More files than people look at: those that were read to their end leave the ledger's rows as partitions, and are known all the same. */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLedger } from "../local/compose.ts";
import { cliIn } from "./support/cli.ts";
import { folderOf } from "./support/folder.ts";
import { assertEnded } from "./support/words.ts";

const files = 130;
const shown = 100;

const module = `
  import { files, pipeline, text } from "epochflow";
  export default pipeline("lines")
    .from(files.source({ path: "in", value: text() }))
    .map((line) => ({ line }))
    .to(files.sink({ path: "out" }), { id: "lines" });`;

/** A folder with many files, and what is in them. */
function project(context: TestContext) {
  const cwd = folderOf(context);
  const written: string[] = [];
  mkdirSync(join(cwd, "in"));
  writeFileSync(join(cwd, "lines.ts"), module);
  const write = (name: string, line: string) => {
    appendFileSync(join(cwd, "in", name), `${line}\n`);
    written.push(line);
  };
  const cli = (...args: string[]) => cliIn(cwd, ...args);
  const lines = async () => {
    const { stdout } = await cli("read", "out");
    return [...stdout.matchAll(/"line":"(.*)"/g)].map(([, line]) => line!).sort();
  };
  const rename = (from: string, to: string) => renameSync(join(cwd, "in", from), join(cwd, "in", to));
  return { cwd, cli, write, rename, lines, written: () => [...written].sort() };
}

async function lastPartitions(cwd: string): Promise<readonly { id: string; identity: unknown }[]> {
  const ledger = openLedger(join(cwd, ".epochflow/lines"));
  try {
    const row = await ledger.epoch((await ledger.head())!.decided);
    assert.ok(row?.status === "decided");
    return row.decision.partitions;
  } finally {
    await ledger.close();
  }
}

test("finished files are a record of the ledger, none is read twice, and one that grows goes on where it ended", async (context) => {
  const { cwd, cli, write, rename, lines, written } = project(context);
  const run = async () => assertEnded(await cli("run", "lines.ts"), 0, /Done/);
  for (let n = 0; n < files; n++) write(`${n}.log`, `file ${n}, the first`);
  await run();
  write("next.log", "a file that comes later");
  await run();
  const partitions = await lastPartitions(cwd);
  assert.equal(partitions.length, shown + 2, "the last that changed, the new one, and the record");
  const record = JSON.stringify(partitions.find(({ id }) => id === "~finished")!.identity);
  assert.ok(record.length < (files - shown) * 80, `${record.length} bytes`);
  for (let n = 0; n < files; n += 10) write(`${n}.log`, `file ${n}, the second`);
  rename("7.log", "seven.log");
  await run();
  assert.deepEqual(await lines(), written());
  rename("3.log", "three.log");
  assertEnded(await cli("run", "lines.ts"), 0, /Nothing to do/);

  for (const command of ["status", "lag", "epochs"])
    for (const json of [[], ["--json"]]) {
      const { code, stdout } = await cli(command, "lines.ts", ...json);
      assert.equal(code, 0);
      assert.equal(stdout.includes("~finished"), false, command);
    }
});
