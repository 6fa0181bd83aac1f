import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../../support/folder.ts";
import { checkRecovery, sentBy } from "./recovery-check.ts";

/** 20 keys, of which k0 and k1 come again and again: k0 three more times, k1 twice. */
const traffic = { keys: 20, sent: 25 };
const loaded = Array.from({ length: 20 }, (_, key): [number, number, number] => [100, key, 1]);
const live: [number, number, number][] = [
  [200, 0, 2],
  [200, 1, 2],
  [5000, 0, 3],
  [6000, 1, 3],
  [6000, 0, 4],
];

function resultsIn(folder: string, ...results: readonly [at: number, key: number, count: number][]): string {
  const file = join(folder, "results");
  writeFileSync(file, results.map(([at, key, count]) => `${at} {"key":"k${key}","count":${count}}\n`).join(""));
  return file;
}

test("after a kill: the next result, and the first one of a record that was sent later", async (t) => {
  const file = resultsIn(folderOf(t), ...loaded, ...live);
  const { complaint, after } = await checkRecovery(file, traffic, [
    { at: 150, sent: 20 },
    { at: 3000, sent: 23 },
    { at: 7000, sent: 25 },
  ]);
  assert.equal(complaint, undefined);
  const never = { nextAt: Number.NaN, freshAt: Number.NaN };
  assert.deepEqual(after, [{ nextAt: 5000, freshAt: 5000 }, { nextAt: 5000, freshAt: 6000 }, never]);
});

test("counts may skip what one epoch added", async (t) => {
  const skipped = [...live.slice(0, 2), ...live.slice(3)];
  assert.equal((await checkRecovery(resultsIn(folderOf(t), ...loaded, ...skipped), traffic, [])).complaint, undefined);
});

test("a result that comes twice, is missing, or counts a record twice, is told", async (t) => {
  const complaint = async (...results: readonly [number, number, number][]) =>
    (await checkRecovery(resultsIn(folderOf(t), ...results), traffic, [])).complaint;
  const told = (notGrown: number, wrong: number) =>
    `${notGrown} results that do not grow, ${wrong} keys whose last count is wrong`;
  assert.equal(await complaint(...loaded, ...live, [6001, 0, 4]), told(1, 0));
  assert.equal(await complaint(...loaded, ...live.slice(0, -1)), told(0, 1));
  assert.equal(
    await complaint(...loaded.slice(1), ...live),
    undefined,
    "k0's first count was never a result of an epoch",
  );
  assert.equal(await complaint(...loaded.slice(0, -1), ...live), told(0, 1));
  assert.equal(await complaint(...loaded, ...live, [6001, 0, 5]), told(0, 1));
});

test("what had been sent at a time", (t) => {
  const file = join(folderOf(t), "sent");
  writeFileSync(file, "10 5\n20 8\n30 9\n");
  assert.deepEqual(
    [5, 10, 25, 99].map((at) => sentBy(file, at)),
    [0, 5, 8, 9],
  );
});
