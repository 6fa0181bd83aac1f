import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { assertEnded, countsOf, goodLines, Project } from "./project.ts";

const bad = goodLines.with(1, "a second line without a tab");

suite("a pipeline that stopped before anything was processed begins anew with the next run", () => {
  test("its input may be mended, in any way", async (t) => {
    const project = new Project(t, bad);
    assertEnded(await project.run(), 1, "line 2");
    assertEnded(await project.run(), 1, "line 2");
    project.input(goodLines);
    await project.finishes(goodLines);
    assertEnded(await project.run(), 0, "Nothing to do");
  });

  test("so may the pipeline", async (t) => {
    const project = new Project(t, bad);
    assertEnded(await project.run(), 1);
    project.input(goodLines);
    project.pipeline({ window: "seconds(20)" });
    assertEnded(await project.run(), 0);
    assert.deepEqual(await project.counts(), countsOf(goodLines, 20_000));
  });

  test("an epoch that was decided is not forgotten", async (t) => {
    const project = new Project(t, goodLines.with(40, "a line without a tab"));
    assertEnded(await project.run(), 1, "line 41");
    project.input(goodLines.toSpliced(0, 3));
    assertEnded(await project.run(), 4);
  });
});

test("a manifest that is not the epoch's stops the pipeline (I8), and may be removed", async (t) => {
  const project = new Project(t, goodLines.slice(0, 30));
  assertEnded(await project.run("--hold"), 0);
  project.input(goodLines);
  // The next epoch with output is one of the next ten: each is foretold.
  const foretold = Array.from({ length: 10 }, (_, more) => String(7 + more).padStart(12, "0"));
  const manifest = (epoch: string) => project.path("out", ".epochflow", "manifests", `${epoch}.json`);
  for (const epoch of foretold) writeFileSync(manifest(epoch), "{}");
  assertEnded(await project.run(), 4, "manifest");
  for (const epoch of foretold) rmSync(manifest(epoch), { force: true });
  assertEnded(await project.epochflow("resume"), 0);
  await project.finishes(goodLines);
});

test("what a pipeline prints stays out of what machines read", async (t) => {
  const project = new Project(t, goodLines, { map: 'console.log("hello"); return word;' });
  const { code, stdout, stderr } = await project.run("--json");
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).outcome, "done");
  assert.match(stderr, /hello/);
});
