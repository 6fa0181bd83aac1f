import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { collect } from "../../testing/collect.ts";
import { SeededRandom } from "../memory/random.ts";
import { directAmong, directPath, manifestText } from "./manifest.ts";
import { baseOf, directName } from "./names.ts";
import { rowsIn } from "./reading.ts";
import { sealEpoch } from "./sealing.ts";
import { MemoryStore } from "./test-support/memory-store.ts";
import { tidy } from "./tidying.ts";

const owner = { pipeline: "p", uid: "u", sink: "s" };
const blockEpochs = 10;

/** Publishes two files of a task, as sinks do under the weaker guarantees. */
async function publish(store: MemoryStore, epoch: number, task = 0, attempt = 1): Promise<void> {
  const context = { ...owner, epoch, attempt, stage: 0, task, nonce: `a_b${attempt}`, direct: true } as const;
  const files = [];
  for (const [number, folder] of ["", "folder/"].entries()) {
    const bytes = Buffer.from(`${epoch}:${task}:${attempt}:${number}\n`);
    const file = folder + directName(context, number, "jsonl");
    await store.create(file, [bytes]);
    files.push({ file, rows: 1, bytes: bytes.length, digest: createHash("sha256").update(bytes).digest("hex") });
  }
  await store.create(directPath(context), [Buffer.from(manifestText({ epoch, files }))]);
}

const rowsOf = (epoch: number, task = 0, attempt = 1) =>
  [0, 1].map((number) => `${epoch}:${task}:${attempt}:${number}`);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const read = async (store: MemoryStore, after = -1) => await collect(rowsIn(store, after));
const tidied = async (store: MemoryStore, committed: number) =>
  await tidy(store, undefined, { committed, now: 0, blockEpochs });
const manifestsIn = async (store: MemoryStore) => directAmong(await store.manifests()).map(({ path }) => baseOf(path));

async function published(epochs: readonly number[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const epoch of epochs) for (const task of [0, 1]) await publish(store, epoch, task);
  return store;
}

const everything = (epochs: readonly number[]) => epochs.flatMap((epoch) => [...rowsOf(epoch), ...rowsOf(epoch, 1)]);

test("manifests of tasks go into an index a block, and readers of any epoch find the same", async () => {
  const store = await published(numbers(1, 40));
  await tidied(store, 35);
  assert.deepEqual((await manifestsIn(store)).slice(0, 3), [
    "direct-000000000000-000000000009.jsonl",
    "direct-000000000010-000000000019.jsonl",
    "direct-000000000020-0-0000-1-a_b1_0000.json",
  ]);
  for (const after of [-1, 0, 5, 9, 10, 15, 25, 39])
    assert.deepEqual(await read(store, after), everything(numbers(1, 40).filter((epoch) => epoch > after)));
  const before = [...store.files.keys()];
  await tidied(store, 35);
  assert.deepEqual([...store.files.keys()], before);
});

test("what a zombie publishes once its epoch is in an index stays beside it", async () => {
  const store = await published([1, 2, 3]);
  await tidied(store, 35);
  await publish(store, 2, 1, 2);
  // One that comes back is in the index already.
  await publish(store, 3);
  const rows = [...everything([1, 2]), ...rowsOf(2, 1, 2), ...everything([3])];
  assert.deepEqual(await read(store), rows);
  await tidied(store, 35);
  assert.deepEqual(await read(store), rows);
  assert.deepEqual(await manifestsIn(store), [
    "direct-000000000000-000000000009.jsonl",
    "direct-000000000002-0-0001-2-a_b2_0000.json",
  ]);
});

test("epochs of either guarantee, and of both, are in their order before and after", async () => {
  const store = new MemoryStore();
  for (const epoch of [1, 2, 4]) await publish(store, epoch);
  for (const epoch of [2, 3]) {
    const file = `part-00000000000${epoch}-0-0000.jsonl`;
    const bytes = Buffer.from(`sealed ${epoch}\n`);
    await store.create(file, [bytes]);
    const digest = createHash("sha256").update(bytes).digest("hex");
    await sealEpoch(store, owner, epoch, [{ file, rows: 1, bytes: bytes.length, digest }], blockEpochs);
  }
  const rows = [...rowsOf(1), ...rowsOf(2), "sealed 2", "sealed 3", ...rowsOf(4)];
  assert.deepEqual(await read(store), rows);
  await tidied(store, 35);
  assert.deepEqual((await store.manifests()).map(baseOf).sort(), [
    "000000000000-000000000009.jsonl",
    "direct-000000000000-000000000009.jsonl",
  ]);
  assert.deepEqual(await read(store), rows);
});

test("killed at any call, whoever comes next goes on, and readers see each row once", async () => {
  for (const moment of ["before", "after"])
    for (let at = 1, killed = true; killed; at++) {
      const store = await published([1, 2, 11]);
      let calls = 0;
      killed = false;
      store.around = (_, now) => {
        if (killed || (now === moment && ++calls === at)) {
          killed = true;
          throw new Error("killed");
        }
      };
      await tidied(store, 35).catch((error) => assert.equal(error.message, "killed"));
      store.around = () => {};
      assert.deepEqual(await read(store), everything([1, 2, 11]), `${moment} call ${at}`);
      await tidied(store, 35);
      assert.deepEqual(await read(store), everything([1, 2, 11]), `${moment} call ${at}, then on`);
      assert.equal((await manifestsIn(store)).length, 2);
    }
});

/** All take turns at every call, in an order by chance. */
test("several at once, and readers in between, lose and double nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = new SeededRandom(seed);
      const store = await published(numbers(1, 16));
      const waiting: (() => void)[] = [];
      store.around = async (_, moment) => {
        if (moment === "before") await new Promise<void>((resolve) => waiting.push(resolve));
      };
      let busy = 0;
      let committed = 15;
      const work = async () => {
        busy++;
        try {
          if (random.below(2) === 0) await tidied(store, committed);
          else assert.deepEqual(await read(store), everything(numbers(1, 16)));
        } finally {
          busy--;
        }
      };
      const running: Promise<void>[] = [];
      const failures: unknown[] = [];
      for (let step = 0; step < 40 || busy > 0; step++) {
        if (step < 40 && random.below(5) === 0) running.push(work().catch((error) => void failures.push(error)));
        if (random.below(3) === 0) committed++;
        await new Promise((resolve) => setImmediate(resolve));
        if (waiting.length > 0) waiting.splice(random.below(waiting.length), 1)[0]!();
      }
      store.around = () => {};
      await Promise.all(running);
      assert.deepEqual(failures, []);
      await tidied(store, 90);
      assert.deepEqual(await read(store), everything(numbers(1, 16)));
      assert.equal((await manifestsIn(store)).length, 2);
    }),
    { numRuns: Number(process.env.EPOCHFLOW_TEST_RUNS ?? 15) },
  );
});

test("a reader does not miss an epoch whose manifest goes, and its index comes, while it lists", async () => {
  const store = await published(numbers(1, 12));
  const list = store.manifests.bind(store);
  let listed = false;
  store.manifests = async () => {
    if (listed) return await list();
    listed = true;
    const indexes = (await list()).filter((path) => path.endsWith(".jsonl"));
    await tidied(store, 35);
    return [...indexes, ...(await list()).filter((path) => path.endsWith(".json"))];
  };
  assert.deepEqual(await read(store), everything(numbers(1, 12)));
});
