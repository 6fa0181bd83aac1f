import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf, readTree } from "../../test/support/folder.ts";
import { olderNodeOfNpm } from "./manifest.ts";
import { makeProject } from "./project.ts";

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

test("a new folder gets everything, under a name that npm takes", (context) => {
  const folder = join(folderOf(context), "My Shop");
  const { files, completed } = makeProject(folder, "files", undefined);
  assert.equal(completed, false);
  assert.deepEqual([...readTree(folder).keys()].sort(), files);
  assert.ok(files.includes(".gitignore") && files.includes("pipeline.test.ts"));
  const { name, type, devDependencies } = manifestOf(folder);
  assert.deepEqual([name, type, "node" in devDependencies], ["my-shop", "module", false]);
});

test("a package.json that is there keeps what it has, but for what npm init has put there", (context) => {
  const folder = folderOf(context);
  const before = {
    name: "mine",
    scripts: { test: 'echo "Error: no test specified" && exit 1', start: "mine" },
    dependencies: { epochflow: "file:../epochflow.tgz", other: "1.0.0" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(before));
  assert.equal(makeProject(folder, "kafka", "20.11.1").completed, true);
  const { name, scripts, dependencies, devDependencies } = manifestOf(folder);
  assert.deepEqual(
    [name, scripts.start, scripts.test, dependencies],
    ["mine", "mine", "node --test", before.dependencies],
  );
  assert.match(devDependencies.node, /^24\./);
});

test("nothing is overwritten: it says what is there, and leaves all as it was", (context) => {
  const folder = folderOf(context);
  writeFileSync(join(folder, "pipeline.ts"), "mine");
  assert.throws(() => makeProject(folder, "files", undefined), {
    code: "would-overwrite",
    message: /has pipeline\.ts already/,
  });
  assert.deepEqual(
    [...readTree(folder)].map(([name, bytes]) => [name, String(bytes)]),
    [["pipeline.ts", "mine"]],
  );
  mkdirSync(join(folder, "other"));
  assert.throws(() => makeProject(join(folder, "pipeline.ts"), "files", undefined), { code: "not-a-folder" });
});

test("both templates say the same of an order", () => {
  const text = (template: string) =>
    readFileSync(new URL(`../templates/${template}/order.ts`, import.meta.url), "utf8");
  assert.equal(text("files"), text("kafka"));
});

test("npm tells which Node the machine has, where another one runs this command", () => {
  assert.equal(olderNodeOfNpm("npm/10.8.2 node/v20.20.2 linux x64 workspaces/false"), "20.20.2");
  assert.equal(olderNodeOfNpm("npm/11.6.0 node/v24.1.0 linux x64 workspaces/false"), undefined);
  assert.equal(olderNodeOfNpm(undefined), undefined);
});
