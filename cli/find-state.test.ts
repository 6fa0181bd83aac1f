import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { statePaths } from "../local/compose.ts";
import { UsageError } from "../shared/errors.ts";
import { findState } from "./find-state.ts";

const root = mkdtempSync(join(tmpdir(), "epochflow-states-"));
after(() => {
  process.chdir(tmpdir());
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => process.chdir(mkdtempSync(join(root, "x"))));

function makeState(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(statePaths(folder).ledger, "");
}

function makePipeline(file: string, name: string): void {
  writeFileSync(
    file,
    `import { pipeline, files, text } from "epochflow";
    export default pipeline("${name}").from(files.source({ path: "in", value: text() })).to(files.sink({ path: "out" }));`,
  );
}

async function folderOf(pipeline?: string, state?: string): Promise<string> {
  return (await findState(pipeline, state === undefined ? {} : { state })).folder;
}

const usage = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof UsageError && error.code === code && words.test(`${error.message} ${error.wayOut}`);

test("--state names the folder", async () => {
  makeState("somewhere/state");
  assert.equal(await folderOf(undefined, "somewhere/state"), "somewhere/state");
});

test("a pipeline's module: the folder of its name, and its topology", async () => {
  makeState(".epochflow/words");
  makeState(".epochflow/other");
  makePipeline("word-count.ts", "words");
  const { folder, topology } = await findState("word-count.ts", {});
  assert.deepEqual([folder, topology?.name], [".epochflow/words", "words"]);
});

test("a pipeline's name", async () => {
  makeState(".epochflow/words");
  makeState(".epochflow/other");
  assert.equal(await folderOf("words"), ".epochflow/words");
});

test("both: the pipeline at another place", async () => {
  makeState("elsewhere");
  makePipeline("word-count.ts", "words");
  const { folder, topology } = await findState("word-count.ts", { state: "elsewhere" });
  assert.deepEqual([folder, topology?.name], ["elsewhere", "words"]);
});

test("nothing is needed where there is one state only", async () => {
  makeState(".epochflow/words");
  mkdirSync(".epochflow/no-state");
  assert.equal(await folderOf(), ".epochflow/words");
});

test("of several, all are named", async () => {
  makeState(".epochflow/words");
  makeState(".epochflow/other");
  await assert.rejects(folderOf(), usage("which-state", /other.*words/));
});

test("there is none", async () => {
  await assert.rejects(folderOf(), usage("no-state", /no state of a pipeline below \.epochflow/));
  makePipeline("word-count.ts", "words");
  await assert.rejects(folderOf("word-count.ts"), usage("no-state", /\.epochflow\/words does not exist/));
});

test("a folder that is not there, or holds something else", async () => {
  makeState("states/words");
  mkdirSync("empty");
  await assert.rejects(folderOf(undefined, "states/wrods"), usage("no-state", /Did you mean "states\/words"\?/));
  await assert.rejects(folderOf(undefined, "empty"), usage("no-state", /empty holds no state of a pipeline/));
});

test("neither a name nor a file", async () => {
  makePipeline("word-count.ts", "words");
  await assert.rejects(folderOf("wordcount.ts"), usage("no-such-file", /Did you mean "word-count\.ts"\?/));
  makeState(".epochflow/words");
  await assert.rejects(folderOf("wrods"), usage("no-state", /no state of a pipeline "wrods".*Did you mean "words"\?/));
});
