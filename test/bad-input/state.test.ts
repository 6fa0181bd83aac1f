import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, type TestContext, test } from "node:test";
import { readTree } from "../support/folder.ts";
import { readEpochs } from "../support/inspect.ts";
import { assertEnded, countsOf, goodLines, lineOf, Project } from "./project.ts";

const lines = goodLines.with(32, lineOf(32_000, "poison"));
const state = join(".epochflow", "words");

/** Stopped half way, so that windows are open in the snapshots. */
async function stoppedHalfWay(t: TestContext): Promise<Project> {
  const project = new Project(t, lines, { map: 'if (word === "poison") throw new Error("poison"); return word;' });
  assertEnded(await project.run(), 1, "poison");
  project.pipeline({});
  return project;
}

/** Keys of the snapshot objects that the last checkpoint names. */
async function objectsOf(project: Project): Promise<string[]> {
  const last = (await readEpochs(project.path(state))).filter((row) => row.status === "decided").at(-1);
  assert.ok(last, "an epoch is decided");
  return Object.values(last.decision.checkpoint.stages).flatMap((runs) => runs.flatMap((run) => run.objects));
}

suite("a snapshot object", () => {
  const damages: Record<string, (path: string, bytes: Buffer) => void> = {
    "cut off": (path, bytes) => truncateSync(path, bytes.length - 1),
    emptied: (path) => truncateSync(path, 0),
    "flipped by a byte at its start": (path, bytes) => writeFileSync(path, flipped(bytes, 0)),
    "flipped by a byte in the middle": (path, bytes) => writeFileSync(path, flipped(bytes, bytes.length >> 1)),
    "flipped by a byte at its end": (path, bytes) => writeFileSync(path, flipped(bytes, bytes.length - 1)),
    deleted: (path) => rmSync(path),
  };
  for (const [how, damage] of Object.entries(damages)) {
    test(`${how}: I8, and once it is restored nothing is lost`, async (t) => {
      const project = await stoppedHalfWay(t);
      const [object] = await objectsOf(project);
      const path = join(state, "objects", object!);
      const whole = project.read(path);
      damage(project.path(path), whole);
      assertEnded(await project.run(), 4, object!, "backup");
      const { stdout } = await project.epochflow("status");
      assert.match(stdout, /stopped/);
      assert.ok(stdout.includes(object!), stdout);
      writeFileSync(project.path(path), whole);
      assertEnded(await project.run(), 4, "epochflow resume");
      assertEnded(await project.epochflow("resume"), 0);
      await project.finishes(lines);
    });
  }
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ 0x01;
  return copy;
}

suite("the ledger's file", () => {
  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    "overwritten by something else": () => Buffer.from("this is not a database, but a text that is long enough"),
    "damaged in the middle": (bytes) => Buffer.from(bytes).fill(0xa5, 4096, bytes.length - 1024),
  };
  for (const [how, damage] of Object.entries(damages)) {
    test(`${how}: names it, and is not made anew`, async (t) => {
      const project = await stoppedHalfWay(t);
      cpSync(project.path(state), project.path("backup"), { recursive: true });
      const file = project.path(state, "ledger.db");
      for (const name of readdirSync(project.path(state)))
        if (/^ledger\.db-/.test(name)) rmSync(project.path(state, name));
      const damaged = damage(project.read(join("backup", "ledger.db")));
      writeFileSync(file, damaged);
      assertEnded(await project.run(), 4, "ledger.db", "damaged", "backup");
      assertEnded(await project.epochflow("status"), 4, "ledger.db");
      rmSync(project.path(state), { recursive: true });
      cpSync(project.path("backup"), project.path(state), { recursive: true });
      await project.finishes(lines);
    });
  }

  test("is another program's database", async (t) => {
    const project = new Project(t);
    mkdirSync(project.path(state), { recursive: true });
    const database = new DatabaseSync(project.path(state, "ledger.db"));
    database.exec("CREATE TABLE theirs (id)");
    database.close();
    assertEnded(await project.run(), 4, "ledger.db", "not a ledger");
    rmSync(project.path(state), { recursive: true });
    await project.finishes(goodLines);
  });
});

test("the state of another pipeline: names both", async (t) => {
  const project = new Project(t);
  assertEnded(await project.run("--state", "state"), 0);
  project.pipeline({ name: "others", output: "out-of-others" });
  assertEnded(await project.run("--state", "state"), 2, "words", "others", "--state");
  assertEnded(await project.run(), 0);
  assert.deepEqual(await project.counts("out-of-others"), countsOf(goodLines));
});

suite("output that belongs to another pipeline", () => {
  test("names folder and owner; with a folder of its own nothing is lost", async (t) => {
    const project = new Project(t);
    await project.finishes(goodLines);
    project.pipeline({ name: "others" });
    assertEnded(await project.run(), 4, project.path("out"), "words", "others");
    assert.deepEqual(await project.counts(), countsOf(goodLines), "the owner's rows are as they were");
    project.pipeline({ name: "others", output: "out-of-others" });
    assertEnded(await project.epochflow("resume", "others"), 0);
    assertEnded(await project.run(), 0);
    assert.deepEqual(await project.counts("out-of-others"), countsOf(goodLines));
  });

  test("later: nothing is staged there, so that nothing is lost when the old folder is named again", async (t) => {
    const project = await stoppedHalfWay(t);
    project.pipeline({ name: "others", output: "theirs" });
    assertEnded(await project.run(), 0);
    const theirs = readTree(project.path("theirs"));
    project.pipeline({ output: "theirs" });
    assertEnded(await project.run(), 4, project.path("theirs"), "others");
    assert.deepEqual(readTree(project.path("theirs")), theirs);
    project.pipeline({});
    assertEnded(await project.epochflow("resume", "words"), 0);
    await project.finishes(lines);
  });

  test("nor does a new state take over the output of the old one", async (t) => {
    const project = new Project(t);
    await project.finishes(goodLines);
    rmSync(project.path(".epochflow"), { recursive: true });
    assertEnded(await project.run(), 4, project.path("out"));
    rmSync(project.path("out"), { recursive: true });
    assertEnded(await project.epochflow("resume"), 0);
    await project.finishes(goodLines);
  });
});

suite("a pipeline whose window size changed", () => {
  const changed = { window: "seconds(20)" };

  test("is refused with the difference spelled out; as it was it goes on", async (t) => {
    const project = await stoppedHalfWay(t);
    project.pipeline(changed);
    assertEnded(await project.run(), 4, "window", /10 ?s/, /20 ?s/, "epochflow reset");
    project.pipeline({});
    assertEnded(await project.run(), 4, "epochflow resume");
    assertEnded(await project.epochflow("resume"), 0);
    await project.finishes(lines);
  });

  test("reset is a way out", async (t) => {
    const project = new Project(t);
    await project.finishes(goodLines);
    project.pipeline(changed);
    project.input([...goodLines, lineOf(60_000, "more")]);
    assertEnded(await project.run(), 4);
    assertEnded(await project.epochflow("reset", "words.ts", "--yes"), 0);
    assertEnded(await project.run(), 0);
    const all = [...countsOf(goodLines), ...countsOf([...goodLines, lineOf(60_000, "more")], 20_000)];
    assert.deepEqual(await project.counts(), all.sort());
  });
});
