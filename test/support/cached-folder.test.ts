import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { cachedFolder } from "./cached-folder.ts";
import { folderOf } from "./folder.ts";

test("a cached folder is made once, by whoever comes first", async (context) => {
  const folder = join(folderOf(context), "cache", "things");
  let count = 0;
  const make = async (unfinished: string) => {
    count++;
    mkdirSync(unfinished);
    await sleep(50);
    writeFileSync(join(unfinished, "thing"), "whole");
  };
  await Promise.all(Array.from({ length: 3 }, () => cachedFolder(folder, make)));
  assert.equal(count, 1);
  assert.equal(readFileSync(join(folder, "thing"), "utf8"), "whole");
});

for (const [damage, harm] of [
  ["half of it was made", (folder) => renameSync(folder, `${folder}.unfinished`)],
  ["a file is gone", (folder) => rmSync(join(folder, "inner/two"))],
  ["a file is cut off", (folder) => writeFileSync(join(folder, "one"), "")],
  ["nothing is left but folders", (folder) => rmSync(join(folder, ".complete.json"))],
] satisfies [string, (folder: string) => void][])
  test(`a cached folder is made anew where ${damage}`, async (context) => {
    const folder = join(folderOf(context), "things");
    let count = 0;
    const make = async (unfinished: string) => {
      count++;
      mkdirSync(join(unfinished, "inner"), { recursive: true });
      for (const name of ["one", "inner/two"]) writeFileSync(join(unfinished, name), "whole");
    };
    await cachedFolder(folder, make);
    harm(folder);
    await cachedFolder(folder, make);
    await cachedFolder(folder, make);
    assert.equal(count, 2);
    for (const name of ["one", "inner/two"]) assert.equal(readFileSync(join(folder, name), "utf8"), "whole");
  });

test("what cannot be made is not there", async (context) => {
  const folder = join(folderOf(context), "things");
  const make = async (unfinished: string) => {
    mkdirSync(unfinished);
    throw new Error("no network");
  };
  await assert.rejects(cachedFolder(folder, make), /no network/);
  assert.equal(existsSync(folder), false);
});
