/** Which files leave the ledger's partitions for the record, and for how long they are remembered. */
import assert from "node:assert/strict";
import { mkdtemp, open, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { KnownPartition, PartitionStatus } from "../../ports/source.ts";
import { unpackFinished } from "./finished-files.ts";
import { createFilesSource } from "./source.ts";

const day = 24 * 60 * 60_000;

/** A folder, and what the ledger holds of it; all that can be read is read at once. */
async function input(context: TestContext, finishedPartitions: number) {
  const path = await mkdtemp(join(tmpdir(), "epochflow-finished-"));
  context.after(() => rm(path, { recursive: true }));
  let known: KnownPartition[] = [];
  let later = 0;
  return {
    path,
    /** @param keeps the ledger keeps partitions that are over, since they matter to the watermark */
    look: async ({ keeps = false } = {}): Promise<PartitionStatus[]> => {
      const machine = { open, readdir, stat, finishedPartitions, now: () => Date.now() + later };
      const found = await createFilesSource({ path, bounded: false }, machine).discover(known);
      const kept = found.filter(({ isOver }) => keeps || !isOver);
      known = kept.map(({ id, identity, end }) => ({
        id,
        identity: JSON.parse(JSON.stringify(identity)),
        position: end,
      }));
      return found;
    },
    write: (name: string, text: string) => writeFile(join(path, name), text, { flag: "a" }),
    remove: (name: string) => rm(join(path, name)),
    pass: (ms: number) => {
      later += ms;
    },
  };
}

const partitions = (found: readonly PartitionStatus[]) => found.filter(({ isRecord }) => !isRecord).map(({ id }) => id);
const over = (found: readonly PartitionStatus[]) => found.filter(({ isOver }) => isOver).map(({ id }) => id);
const recorded = (found: readonly PartitionStatus[]) =>
  unpackFinished(found.find(({ isRecord }) => isRecord)?.identity).map(({ id }) => id);

test("files that changed last stay partitions; nothing that has more to read, or an unfinished line, is over", async (context) => {
  const { write, look } = await input(context, 1);
  for (const name of ["a", "b", "c"]) {
    await write(name, "text\n");
    await sleep(20);
  }
  await write("d", "text\nbegun");
  assert.deepEqual(over(await look()), [], "nothing was read of them");
  const second = await look();
  assert.deepEqual(
    [over(second), recorded(second)],
    [
      ["a", "b"],
      ["a", "b"],
    ],
  );
  assert.deepEqual(partitions(await look()), ["c", "d"]);
});

test("a file of the record that grows is its old partition again, where it ended (I1)", async (context) => {
  const { write, look } = await input(context, 0);
  await write("a", "text\n");
  await look();
  await look();
  assert.deepEqual(partitions(await look()), []);
  await write("a", "more\n");
  const again = await look();
  const [one] = again;
  assert.deepEqual([one!.id, one!.start, one!.end, one!.isOver], ["a", 5, 10, undefined]);
  assert.deepEqual(recorded(again), []);
  assert.ok(
    again.some(({ isRecord }) => isRecord),
    "a partition of the ledger is never left out, not even the record",
  );
});

test("what the ledger still keeps as a partition, though it is in the record, is one file", async (context) => {
  const { write, look } = await input(context, 0);
  await write("a", "text\n");
  await look();
  for (let n = 0; n < 2; n++) {
    const found = await look({ keeps: true });
    assert.deepEqual([partitions(found), over(found), recorded(found)], [["a"], ["a"], ["a"]]);
  }
  await write("a", "more\n");
  const grown = await look({ keeps: true });
  assert.deepEqual([partitions(grown), over(grown), recorded(grown)], [["a"], [], []]);
});

test("a file of the record that goes is remembered for a day", async (context) => {
  const { path, write, remove, look, pass } = await input(context, 0);
  await write("a", "text\n");
  await write("b", "other\n");
  await look();
  await look();
  await remove("a");
  for (let n = 0; n < 3; n++) {
    pass(day / 4);
    assert.deepEqual(recorded(await look()), ["a", "b"]);
  }
  await write("a", "text\n");
  await utimes(join(path, "a"), 0, 0);
  assert.deepEqual(partitions(await look()), [], "it came back");
  await remove("a");
  await look();
  pass(day - 1000);
  assert.deepEqual(recorded(await look()), ["a", "b"]);
  pass(2000);
  assert.deepEqual(recorded(await look()), ["b"]);
  await write("a", "text\n");
  const fresh = (await look()).find(({ id }) => id === "a");
  assert.deepEqual([fresh!.id, fresh!.start, fresh!.end], ["a", 0, 5]);
});

test("a folder that is not there for a while makes nothing be forgotten", async (context) => {
  const { write, remove, look, pass } = await input(context, 0);
  await write("a", "text\n");
  await look();
  await look();
  await remove("a");
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(recorded(await look()), ["a"]);
    pass(day);
  }
});
