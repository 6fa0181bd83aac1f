import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LossError, UsageError } from "../../errors.ts";
import { collect } from "../../testing/collect.ts";
import { commitLedger, owner } from "../../testing/sink-scenario.ts";
import { sealEpoch } from "../output/sealing.ts";
import { tidy } from "../output/tidying.ts";
import { FolderStore } from "./folder-store.ts";
import { outputLayout } from "./output-layout.ts";
import { readChunks, readManifests, readRows } from "./reader.ts";
import { createFilesSink } from "./sink.ts";

async function folder(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "epochflow-reader-"));
  context.after(() => rm(path, { recursive: true }));
  return path;
}

/** Writes rows of one task a row list; seals the epoch unless told otherwise. */
async function write(path: string, epoch: number, tasks: readonly (readonly unknown[])[], { sealed = true } = {}) {
  const sink = createFilesSink({ path });
  await sink.open(owner);
  const units = [];
  for (const [task, rows] of tasks.entries()) {
    const transaction = await sink.begin({ ...owner, epoch, attempt: 1, stage: 1, task, nonce: "nonce" });
    transaction.write(rows);
    const unit = await sink.preCommit(transaction);
    if (unit !== undefined) units.push({ key: `1-${task}`, unit });
  }
  for (const unit of units) await sink.commit({ ...owner, epoch, ...unit, ledger: commitLedger(epoch, unit) });
  if (sealed) await sink.seal?.({ ...owner, epoch, units: units.reverse() });
}

test("rows come in the order of epochs, tasks and rows, of sealed epochs only", async (context) => {
  const path = await folder(context);
  await write(path, 10, [["10-0"], Array.from({ length: 3 }, (_, n) => `10-1-${n}`)]);
  await write(
    path,
    9,
    Array.from({ length: 12 }, (_, task) => [`9-${task}`]),
  );
  await write(path, 11, [["11-0"]], { sealed: false });
  const expected = [...Array.from({ length: 12 }, (_, task) => `9-${task}`), "10-0", "10-1-0", "10-1-1", "10-1-2"];
  assert.deepEqual(
    (await collect(readRows(path))).map((row) => JSON.parse(row)),
    expected,
  );
});

test("rows larger than a chunk come whole", async (context) => {
  const path = await folder(context);
  const rows = Array.from({ length: 8 }, (_, n) => `${n}${"ü".repeat(n * 300_000)}`);
  await write(path, 1, [rows]);
  assert.deepEqual(
    (await collect(readRows(path))).map((row) => JSON.parse(row)),
    rows,
  );
  for await (const chunk of readChunks(path)) assert.equal(chunk.at(-1), 10);
});

test("a missing or damaged file is named, and none of its rows are given", async (context) => {
  const path = await folder(context);
  await write(path, 1, [["good"]]);
  await write(path, 2, [["x".repeat(3_000_000), "bad"]]);
  const file = join(path, "part-000000000002-1-0000.jsonl");
  const whole = await readFile(file);
  const flipped = Buffer.from(whole);
  flipped[whole.length - 4]! ^= 1;
  const damages: Record<string, () => Promise<void>> = {
    "output-file-damaged": () => writeFile(file, flipped),
    "output-file-missing": () => rm(file),
  };
  for (const damage of [() => writeFile(file, whole.subarray(1)), ...Object.values(damages)]) {
    await damage();
    const rows: string[] = [];
    await assert.rejects(
      async () => {
        for await (const row of readRows(path)) rows.push(row);
      },
      (error) => error instanceof LossError && error.place.file === file && error.message.includes(file),
    );
    assert.deepEqual(rows, ['"good"']);
  }
});

test("a damaged manifest is named", async (context) => {
  const path = await folder(context);
  await write(path, 1, [["row"]]);
  const manifest = join(path, ".epochflow", "manifests", "000000000001.json");
  const text = await readFile(manifest, "utf8");
  for (const wrong of [
    "",
    "{}\n",
    text.slice(0, -2),
    text.replace('"epoch":1', '"epoch":2'),
    text.replace("part-", "../part-"),
  ]) {
    await writeFile(manifest, wrong);
    await assert.rejects(collect(readRows(path)), { code: "manifest-damaged" });
  }
});

test("a folder that is no output is refused, with what may have been meant", async (context) => {
  const path = await folder(context);
  await mkdir(join(path, "results"));
  await assert.rejects(collect(readRows(join(path, "result"))), (error) => {
    assert.ok(error instanceof UsageError && error.code === "not-an-output");
    assert.match(error.message, /Did you mean "results"/);
    return true;
  });
  await assert.rejects(collect(readRows(join(path, "results"))), { code: "not-an-output" });
});

const file = { file: "part-000000000000-0-0000.jsonl", rows: 1, bytes: 1, digest: "0" };

/** Seals epochs as the sink does, and puts the output in order, with blocks of ten. */
async function sealAll(path: string, epochs: readonly number[]) {
  const layout = outputLayout(path);
  for (const name of [layout.staging, layout.manifests]) await mkdir(name, { recursive: true });
  const store = new FolderStore(path, { prefix: "draft" });
  for (const epoch of epochs) {
    await sealEpoch(store, owner, epoch, [file], 10);
    await tidy(store, undefined, { committed: epoch, now: Date.now(), blockEpochs: 10 });
  }
  return { ...layout, store };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const epochsOf = async (path: string) => (await collect(readManifests(path))).map(({ epoch }) => epoch);

test("old manifests are rolled into an index of a whole block; the block before the last stays", async (context) => {
  const path = await folder(context);
  const epochs = numbers(1, 46).filter((epoch) => epoch % 7 !== 0);
  const layout = await sealAll(path, epochs);
  const names = (await readdir(layout.manifests)).sort();
  assert.deepEqual(names.slice(0, 3), [
    "000000000000-000000000009.jsonl",
    "000000000010-000000000019.jsonl",
    "000000000020-000000000029.jsonl",
  ]);
  assert.deepEqual(
    names.slice(3),
    epochs.filter((epoch) => epoch >= 30).map((epoch) => `0000000000${epoch}.json`),
  );
  assert.deepEqual(await epochsOf(path), epochs);
});

test("a zombie that seals an old epoch again shows it to nobody twice", async (context) => {
  const path = await folder(context);
  const layout = await sealAll(path, numbers(1, 31));
  await sealEpoch(layout.store, owner, 5, [file], 10);
  assert.ok(!(await readdir(layout.manifests)).includes("000000000005.json"));
  // It looked for the index before that was there.
  const brought = join(layout.manifests, "000000000005.json");
  await writeFile(brought, `{"epoch":5,"files":[${JSON.stringify(file)}]}\n`);
  assert.deepEqual(await epochsOf(path), numbers(1, 31));
  const index = await readFile(join(layout.manifests, "000000000000-000000000009.jsonl"), "utf8");
  await sealAll(path, [31, 32]);
  assert.deepEqual(await epochsOf(path), numbers(1, 33));
  assert.ok(!(await readdir(layout.manifests)).includes("000000000005.json"), "the next tidying removes it");
  assert.equal(await readFile(join(layout.manifests, "000000000000-000000000009.jsonl"), "utf8"), index);
});

test("an epoch that is sealed with other files is refused", async (context) => {
  const path = await folder(context);
  const { store } = await sealAll(path, [1]);
  await sealEpoch(store, owner, 1, [file], 10);
  await assert.rejects(sealEpoch(store, owner, 1, [{ ...file, rows: 2 }], 10), { code: "manifest-differs" });
});

test("a reader that is overtaken by a roll sees each epoch once", async (context) => {
  const path = await folder(context);
  await sealAll(path, numbers(1, 20));
  const seen: number[] = [];
  for await (const { epoch } of readManifests(path)) {
    seen.push(epoch);
    if (epoch === 3) await sealAll(path, numbers(20, 32));
  }
  assert.deepEqual(seen, numbers(1, seen.length + 1));
  assert.ok(seen.length >= 19);
});
