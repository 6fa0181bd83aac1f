import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type open, readdir, stat } from "node:fs/promises";
import { suite, type TestContext, test } from "node:test";
import { runWith } from "../../local/run.ts";
import { createFilesSource } from "../../shared/adapters/filesystem/source.ts";
import { files, pipeline, text } from "../../shared/index.ts";
import { folderOf } from "../support/folder.ts";
import { assertEnded, goodLines, lineOf, Project } from "./project.ts";

test("a missing input: names it and the one that may have been meant; nothing was begun", async (t) => {
  const project = new Project(t);
  renameSync(project.path("in.txt"), project.path("in.text"));
  assertEnded(await project.run(), 2, "in.txt does not exist", 'Did you mean "in.text"?');
  renameSync(project.path("in.text"), project.path("in.txt"));
  await project.finishes(goodLines);
});

test("a wrong path is found out after a finished run too; a file that was read to its end may go", async (t) => {
  const project = new Project(t);
  await project.finishes(goodLines);
  const text = readFileSync(project.path("words.ts"), "utf8");
  writeFileSync(project.path("words.ts"), text.replace("in.txt", "inn.txt"));
  assertEnded(await project.run(), 2, "inn.txt", "in.txt");
  writeFileSync(project.path("words.ts"), text);
  rmSync(project.path("in.txt"));
  assertEnded(await project.run(), 0, "Nothing to do");
});

test("an unreadable input: names it, and loses nothing", async (t) => {
  const folder = folderOf(t);
  const path = `${folder}/in.txt`;
  writeFileSync(path, "one\ntwo\n");
  const output = `${folder}/out`;
  const copy = pipeline("copy")
    .from(files.source({ path, value: text() }))
    .to(files.sink({ path: output }));
  const forbidden = () => Promise.reject(Object.assign(new Error("permission denied"), { code: "EACCES" }));
  const options = { state: `${folder}/state` };
  const failed = await runWith(copy, options, {
    engine: (engine) => ({
      ...engine,
      source: createFilesSource({ path, bounded: true }, { open: forbidden as typeof open, readdir, stat }),
    }),
  });
  assert.equal(failed.outcome, "failed");
  assert.deepEqual([failed.error?.code, failed.error?.place?.file], ["input-unreadable", path]);
  assert.match(failed.error?.wayOut ?? "", /right to read/);
  const { outcome, progress } = await runWith(copy, options, {});
  assert.deepEqual([outcome, progress.records, progress.rows], ["done", 2, 2]);
});

/** Its poisoned word stops the pipeline when about half of the input is read and committed. */
const lines = goodLines.with(32, lineOf(32_000, "poison"));

async function stoppedHalfWay(t: TestContext): Promise<Project> {
  const project = new Project(t, lines, { map: 'if (word === "poison") throw new Error("poison"); return word;' });
  assertEnded(await project.run(), 1, "poison");
  project.pipeline({});
  return project;
}

/** It is stopped (I8), says so whenever it is asked, does not go on by itself, and does with `resume` once its input is whole again. */
async function assertLossful(project: Project, code: string, mend: () => void): Promise<void> {
  const said = ["in.txt", code, "epochflow reset"];
  assertEnded(await project.run(), 4, ...said);
  const { stdout } = await project.epochflow("status");
  for (const text of ["stopped", ...said, "epochflow resume"]) assert.ok(stdout.includes(text), stdout);
  mend();
  assertEnded(await project.run(), 4, "epochflow resume");
  assertEnded(await project.epochflow("resume"), 0);
  await project.finishes(lines);
}

suite("an input that was read half way", () => {
  test("shrank", async (t) => {
    const project = await stoppedHalfWay(t);
    const whole = project.read("in.txt");
    truncateSync(project.path("in.txt"), Math.floor(whole.length / 3));
    await assertLossful(project, "shrank", () => writeFileSync(project.path("in.txt"), whole));
  });

  test("was replaced by a larger one", async (t) => {
    const project = await stoppedHalfWay(t);
    mkdirSync(project.path("elsewhere"));
    renameSync(project.path("in.txt"), project.path("elsewhere", "in.txt"));
    writeFileSync(project.path("in.txt"), "other\n".repeat(10_000));
    await assertLossful(project, "replaced", () =>
      renameSync(project.path("elsewhere", "in.txt"), project.path("in.txt")),
    );
  });

  test("vanished, and comes back as a copy", async (t) => {
    const project = await stoppedHalfWay(t);
    copyFileSync(project.path("in.txt"), project.path("kept.backup"));
    rmSync(project.path("in.txt"));
    await assertLossful(project, "gone", () => copyFileSync(project.path("kept.backup"), project.path("in.txt")));
  });

  test("was renamed by a rotation: it is read to its end, and the new one after it", async (t) => {
    const project = await stoppedHalfWay(t);
    renameSync(project.path("in.txt"), project.path("in.txt.1"));
    const more = [lineOf(61_000, "later")];
    project.input(more);
    await project.finishes([...lines, ...more]);
  });
});

test("reset is a way out: all of the input that is there now is read", async (t) => {
  const project = await stoppedHalfWay(t);
  const before = await project.counts();
  const others = Array.from({ length: 12 }, (_, second) => lineOf(second * 1000, "new"));
  rmSync(project.path("in.txt"));
  project.input(others);
  assertEnded(await project.run(), 4);
  assertEnded(await project.epochflow("reset", "words.ts", "--yes"), 0);
  assertEnded(await project.run(), 0);
  assert.deepEqual(await project.counts(), [...before, "0 new 10", "10000 new 2"].sort());
});
