import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { collect } from "../../testing/collect.ts";
import { SeededRandom } from "../memory/random.ts";
import type { Compaction } from "./compaction.ts";
import { type ManifestFile, manifestsAmong } from "./manifest.ts";
import { manifestsOf } from "./manifests.ts";
import { baseOf, isDataName } from "./names.ts";
import { epochsIn, rowsIn } from "./reading.ts";
import { sealEpoch } from "./sealing.ts";
import { MemoryStore } from "./test-support/memory-store.ts";
import { tidy } from "./tidying.ts";

const owner = { pipeline: "p", uid: "u", sink: "s" };
const blockEpochs = 10;
const hour = 3_600_000;
const compaction: Compaction = { bytes: 100, ageMs: hour, graceMs: hour };

/** An epoch's files by path, with their rows. */
type Files = Readonly<Record<string, readonly string[]>>;

async function seal(store: MemoryStore, epoch: number, files: Files, { header = "" } = {}): Promise<void> {
  const listed: ManifestFile[] = [];
  for (const [name, rows] of Object.entries(files)) {
    const [folder, stage, extension] = name.split(":") as [string, string, string];
    const file = `${folder}part-${String(epoch).padStart(12, "0")}-${stage}-0000.${extension}`;
    const pack = extension.endsWith(".gz") ? gzipSync : (text: string) => Buffer.from(text);
    const bytes = Buffer.from(pack(rows.map((row) => `${row}\n`).join("")));
    const start = header === "" ? Buffer.alloc(0) : Buffer.from(pack(header));
    await store.create(file, [start, bytes]);
    const digest = createHash("sha256").update(bytes).digest("hex");
    const more = header === "" ? {} : { offset: start.length, header };
    listed.push({ file, rows: rows.length, bytes: bytes.length, digest, ...more });
  }
  await sealEpoch(store, owner, epoch, listed, blockEpochs);
}

const rowsOf = (epoch: number) => [`${epoch}:1`, `${epoch}:2`];
const everything = (epochs: readonly number[]) => epochs.flatMap(rowsOf);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const read = async (store: MemoryStore, after = -1) => await collect(rowsIn(store, after));

async function sealed(epochs: readonly number[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const epoch of epochs)
    await seal(store, epoch, { ":0:jsonl": [rowsOf(epoch)[0]!], ":1:jsonl": [rowsOf(epoch)[1]!] });
  return store;
}

const tidied = async (store: MemoryStore, committed: number, chosen: Compaction | undefined = compaction) =>
  await tidy(store, chosen, { committed, now: store.now, blockEpochs });

/** Files with rows that no manifest names, of those that readers take. */
async function unneeded(store: MemoryStore): Promise<string[]> {
  const named = new Set<string>();
  for await (const { files } of manifestsOf(store)) for (const { file } of files) named.add(file);
  return [...store.files.keys()].filter((path) => isDataName(baseOf(path)) && !named.has(path));
}

const dataFiles = (store: MemoryStore) => [...store.files.keys()].filter((path) => isDataName(baseOf(path))).sort();
const manifestFiles = async (store: MemoryStore) =>
  manifestsAmong(await store.manifests()).map(({ path }) => baseOf(path));

test("small files are merged once they have the size, and not before", async () => {
  const store = await sealed(numbers(1, 8));
  const small = dataFiles(store).length;
  assert.equal(await tidied(store, 7), 0);
  assert.equal(dataFiles(store).length, small);
  await tidied(store, 7, { ...compaction, bytes: 30 });
  // Four bytes a row: the fourth epoch makes it 32.
  assert.ok(dataFiles(store).includes("part-000000000000-000000000004.jsonl"));
  assert.equal(
    store.files.get("part-000000000000-000000000004.jsonl")?.bytes.toString(),
    "1:1\n1:2\n2:1\n2:2\n3:1\n3:2\n4:1\n4:2\n",
  );
  assert.deepEqual(await read(store), everything(numbers(1, 8)));
});

test("they are merged anyway once the oldest has the age; a single one is not", async () => {
  const store = await sealed([3, 5]);
  store.now = hour - 1;
  await tidied(store, 6);
  assert.equal(dataFiles(store).length, 4);
  store.now = hour;
  await tidied(store, 6);
  assert.ok(dataFiles(store).includes("part-000000000000-000000000005.jsonl"));
  const single = new MemoryStore();
  await seal(single, 1, { ":0:jsonl": ["x"] });
  single.now = 9 * hour;
  await tidied(single, 1);
  assert.deepEqual(dataFiles(single), ["part-000000000001-0-0000.jsonl"]);
});

test("what is not committed is not touched; large files stay as they are", async () => {
  const store = await sealed([1, 2, 3]);
  await seal(store, 4, { ":0:jsonl": ["x".repeat(200)] });
  store.now = hour;
  await tidied(store, 2);
  assert.ok(dataFiles(store).includes("part-000000000000-000000000002.jsonl"));
  await seal(store, 5, { ":0:jsonl": ["5:1"], ":1:jsonl": ["5:2"] });
  store.now = 2 * hour;
  await tidied(store, 5);
  assert.ok(dataFiles(store).includes("part-000000000004-0-0000.jsonl"));
  assert.deepEqual(await read(store), [...everything([1, 2, 3]), "x".repeat(200), ...rowsOf(5)]);
});

test("merged files and old manifests go after the grace time, and then nothing is there that nobody needs", async () => {
  const store = await sealed([1, 2]);
  store.now = hour;
  await tidied(store, 2);
  assert.equal(dataFiles(store).length, 5);
  store.now = 2 * hour - 1;
  assert.equal(await tidied(store, 2), 0);
  store.now = 2 * hour;
  assert.equal(await tidied(store, 2), 4);
  assert.deepEqual(dataFiles(store), ["part-000000000000-000000000002.jsonl"]);
  assert.deepEqual(await manifestFiles(store), ["000000000000-run.jsonl"]);
  assert.deepEqual(await read(store), everything([1, 2]));
  assert.equal(await tidied(store, 2), 0);
});

test("folders, formats and columns have merged files of their own", async () => {
  const store = new MemoryStore();
  for (const epoch of [1, 2])
    await seal(store, epoch, { "a/:0:csv": [`${epoch},a`], "b/:0:csv": [`${epoch},b`] }, { header: "n,k\n" });
  await seal(store, 3, { "a/:0:csv": ["a,3"] }, { header: "k,n\n" });
  await seal(store, 4, { "a/:0:csv": ["a,4"], ":0:csv.gz": ["4"] }, { header: "k,n\n" });
  await seal(store, 5, { ":0:csv.gz": ["5"] }, { header: "k,n\n" });
  const before = await read(store);
  store.now = hour;
  await tidied(store, 5);
  store.now = 2 * hour;
  await tidied(store, 5);
  assert.deepEqual(dataFiles(store), [
    "a/part-000000000000-000000000005.csv",
    "a/part-000000000000-000000000005_0001.csv",
    "b/part-000000000000-000000000005.csv",
    "part-000000000000-000000000005.csv.gz",
  ]);
  assert.deepEqual(await read(store), before);
  assert.equal(store.files.get("a/part-000000000000-000000000005.csv")?.bytes.toString(), "n,k\n1,a\n2,a\n");
});

test("runs end with their block, and become part of its index; readers of any epoch are exact", async () => {
  const store = await sealed([]);
  const epochs: number[] = [];
  for (let epoch = 1; epoch <= 60; epoch++) {
    if (epoch % 9 === 0) continue;
    await seal(store, epoch, { ":0:jsonl": [rowsOf(epoch)[0]!], ":1:jsonl": [rowsOf(epoch)[1]!] });
    epochs.push(epoch);
    store.now += hour / 4;
    await tidied(store, epoch);
    assert.deepEqual(await read(store), everything(epochs));
    const after = epoch >> 1;
    assert.deepEqual(await read(store, after), everything(epochs.filter((one) => one > after)));
  }
  assert.deepEqual(
    (await manifestFiles(store)).slice(0, 4).map((name) => name.length),
    [31, 31, 31, 31],
  );
  assert.ok((await manifestFiles(store)).length < 20);
});

test("without compaction any more, a planned run is made, and what was replaced goes", async () => {
  const store = await sealed([1, 2]);
  await store.create(".epochflow/manifests/000000000000-run.plan", [Buffer.from('{"first":0,"last":2,"bytes":50}\n')]);
  await tidied(store, 2, undefined);
  store.now = hour;
  await tidied(store, 2, undefined);
  assert.deepEqual(dataFiles(store), ["part-000000000000-000000000002.jsonl"]);
});

test("a damaged file is not merged: it is named", async () => {
  const store = await sealed([1, 2]);
  const [name] = dataFiles(store);
  store.files.set(name!, { bytes: Buffer.from("bad!"), madeAt: 0 });
  store.now = hour;
  await assert.rejects(tidied(store, 2), { code: "output-file-damaged" });
  assert.ok(!dataFiles(store).some((file) => file.includes("0-00000000000")));
});

class Killed extends Error {}

/** Kills whoever makes the `at`-th call, before or after it takes effect. */
function killAt(store: MemoryStore, at: number, moment: "before" | "after"): () => boolean {
  let calls = 0;
  let killed = false;
  store.around = (_, now) => {
    if (killed) throw new Killed();
    if (now === "before") calls++;
    if (calls !== at || now !== moment) return;
    killed = true;
    throw new Killed();
  };
  return () => {
    store.around = () => {};
    return killed;
  };
}

for (const moment of ["before", "after"] as const)
  test(`killed ${moment} any call, whoever comes next goes on, and readers see each row once`, async () => {
    for (let at = 1; ; at++) {
      const store = await sealed(numbers(1, 16));
      let killed = false;
      for (const now of [hour, 2 * hour + 1]) {
        store.now = now;
        const revive = killAt(store, at, moment);
        await tidied(store, 35).catch((error) => assert.ok(error instanceof Killed, error));
        const died = revive();
        killed ||= died;
        assert.deepEqual(await read(store), everything(numbers(1, 16)), `call ${at}`);
        await tidied(store, 35);
        assert.deepEqual(await read(store), everything(numbers(1, 16)), `call ${at}, then on`);
      }
      store.now = 9 * hour;
      await tidied(store, 35);
      assert.deepEqual(await unneeded(store), [], `call ${at}`);
      assert.deepEqual(
        [...store.files.keys()].filter((path) => path.endsWith(".plan")),
        [],
      );
      if (!killed) return;
    }
  });

/** Several of them take turns at every call, in an order by chance; some are held up for hours, while time goes on. */
test("several at once, some of them held up for hours, lose and double nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = new SeededRandom(seed);
      const store = await sealed(numbers(1, 16));
      store.now = hour;
      const waiting: (() => void)[] = [];
      store.around = async (_, moment) => {
        if (moment === "before") await new Promise<void>((resolve) => waiting.push(resolve));
      };
      let busy = 0;
      let committed = 15;
      const start = async (work: () => Promise<unknown>) => {
        busy++;
        await work().catch((error) => {
          if (!/Overtaken|^$/.test(error.message) && error.code === undefined) throw error;
        });
        busy--;
      };
      const sweep = () => tidied(store, committed, { ...compaction, bytes: [20, 60, 100][random.below(3)]! });
      const readAll = async () => {
        const seen: string[] = [];
        for await (const { rows } of epochsIn(store, -1)) for await (const row of rows) seen.push(row);
        assert.deepEqual(seen, everything(numbers(1, 16)));
      };
      const running: Promise<void>[] = [];
      for (let step = 0; step < 1500 && (step < 30 || busy > 0); step++) {
        if (step < 30 && random.below(5) === 0) running.push(start(random.below(3) === 0 ? readAll : sweep));
        if (random.below(15) === 0) store.now += hour / 2;
        if (random.below(10) === 0) committed++;
        await new Promise((resolve) => setImmediate(resolve));
        if (waiting.length > 0) waiting.splice(random.below(waiting.length), 1)[0]!();
      }
      store.around = () => {};
      for (const resume of waiting) resume();
      await Promise.all(running);
      assert.deepEqual(await read(store), everything(numbers(1, 16)));
      for (const _ of [1, 2, 3]) {
        store.now += 2 * hour;
        await tidied(store, committed + 40);
      }
      assert.deepEqual(await read(store), everything(numbers(1, 16)));
      assert.deepEqual(await unneeded(store), []);
    }),
    { numRuns: Number(process.env.EPOCHFLOW_TEST_RUNS ?? 15) },
  );
});

test("a reader that has read where rows are, and comes for them after the grace time, finds them where they are now", async () => {
  const store = await sealed(numbers(1, 6));
  const seen: string[] = [];
  for await (const { epoch, rows } of epochsIn(store, -1)) {
    if (epoch === 2) {
      store.now = hour;
      await tidied(store, 5);
      store.now = 2 * hour;
      assert.ok((await tidied(store, 5)) > 0);
    }
    for await (const row of rows) seen.push(row);
  }
  assert.deepEqual(seen, everything(numbers(1, 6)));
});
