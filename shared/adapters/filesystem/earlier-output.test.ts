import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { collect } from "../../testing/collect.ts";
import type { SinkOwner } from "../output/names.ts";
import { readRows } from "./reader.ts";
import { createFilesSink } from "./sink.ts";

/**
 * What epochflow wrote before outputs had folders, runs and several files a task: an index of epochs 0 to 999, and manifests of single epochs up to 2090. By path, as text.
 * Made by the code of commit 52762e9, of a pipeline that wrote the rows of six epochs among 2,100.
 */
const fixture = new URL("test-support/earlier-output.json", import.meta.url);
const rows = [3, 700, 701, 1500, 2050, 2090].map((number) => `row ${number}`);

async function unpack(folder: string): Promise<void> {
  const files: Record<string, string> = JSON.parse(await readFile(fixture, "utf8"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Writes an epoch of one row. */
async function write(path: string, owner: SinkOwner, epoch: number, row: string): Promise<void> {
  const sink = createFilesSink({ path });
  const transaction = await sink.begin({ ...owner, epoch, attempt: 1, stage: 0, task: 0, nonce: "n" });
  transaction.write([row]);
  const units = [{ key: "0-0", unit: (await sink.preCommit(transaction))! }];
  await sink.commit({ ...owner, epoch, ...units[0]!, ledger: undefined as never });
  await sink.seal?.({ ...owner, epoch, units });
}

test("an output of an earlier version is read, continued, merged and rolled up", async () => {
  using folder = temporaryFolder();
  const path = folder.path;
  await unpack(path);
  const read = async (after = -1) => (await collect(readRows(path, { after }))).map((row) => JSON.parse(row));
  assert.deepEqual(await read(), rows);
  assert.deepEqual(await read(700), rows.slice(2));

  const owner = JSON.parse(await readFile(join(path, ".epochflow", "owner.json"), "utf8"));
  const open = () => createFilesSink({ path, compact: { age: 1, grace: 1 } });
  await open().open({ ...owner, decided: 2100 });
  await write(path, owner, 2101, "new");
  const all = [...rows, "new"];
  const hour = 3_600_000;
  for (const round of [1, 2]) {
    await open().tidy?.(owner, { committed: 2101, now: Date.now() + round * hour });
    assert.deepEqual(await read(), all);
  }
  // Those of the index stay, the others are one.
  assert.equal((await readdir(path)).filter((name) => name.startsWith("part-")).length, 3 + 2);
  await open().tidy?.(owner, { committed: 4000, now: Date.now() + 3 * hour });
  assert.deepEqual((await readdir(join(path, ".epochflow", "manifests"))).sort(), [
    "000000000000-000000000999.jsonl",
    "000000001000-000000001999.jsonl",
    "000000002000-000000002999.jsonl",
  ]);
  assert.deepEqual(await read(), all);
  assert.deepEqual(await read(1500), all.slice(4));
});
