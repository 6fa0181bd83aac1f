import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../../../test/support/folder.ts";
import { makeFolder } from "./durable.ts";

test("a folder is made with its parents, and may be there", async (context) => {
  const folder = join(folderOf(context), "a/b/c/d/e");
  await makeFolder(folder);
  await makeFolder(folder);
  assert.ok(statSync(folder).isDirectory());
});

const hasProc = process.platform === "linux" ? false : "needs /proc";
test("a file system that says of every new folder that it is missing is not asked for ever", {
  skip: hasProc,
}, async () => {
  await assert.rejects(makeFolder("/proc/epochflow/out"), { code: "ENOENT" });
});
