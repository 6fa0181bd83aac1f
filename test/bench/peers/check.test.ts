import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../../support/folder.ts";
import { committedFiles, compareRows } from "./check.ts";

const expected = new Map([
  ["0 a", 1],
  ["0 b", 2],
  ["10000 a", 3],
]);
const right = [
  { word: "a", windowStart: 10_000, count: 3 },
  { word: "b", windowStart: 0, count: 2 },
  { word: "a", windowStart: 0, count: 1 },
];

test("exactly the expected counts, in any order, are right; all else is told", async (t) => {
  const folder = folderOf(t);
  const compare = (...rows: readonly object[]) => {
    const file = join(folder, "rows");
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return compareRows([file], expected);
  };
  assert.equal(await compare(...right), undefined);
  assert.equal(await compare(...right, right[1]!), "1 doubled");
  assert.equal(await compare(...right, { word: "c", windowStart: 0, count: 1 }), "1 unexpected");
  assert.equal(await compare(...right.slice(1)), "1 missing");
  assert.equal(await compare({ ...right[0], count: 4 }, ...right.slice(1)), "1 wrong");
});

test("of Spark's files only those of committed batches count", (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, "_spark_metadata"));
  writeFileSync(join(folder, "_spark_metadata/0"), 'v1\n{"path":"file:///x/part-0"}\n{"path":"file:///x/part-1"}');
  writeFileSync(join(folder, "_spark_metadata/.0.crc"), "");
  writeFileSync(join(folder, "part-2"), "");
  assert.deepEqual(committedFiles(folder), ["/x/part-0", "/x/part-1"]);
});
