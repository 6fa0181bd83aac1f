import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { SmallDisk, whyNoMounts } from "./mounts.ts";
import { assertEnded, goodLines, lineOf, Project } from "./project.ts";

/** As many keys as lines, so that output and state are larger than the small disks here. */
const lines = Array.from({ length: 20_000 }, (_, index) => lineOf(index, `word-${index}-${"x".repeat(50)}`));
const skip = whyNoMounts();

suite("a full disk", { skip }, () => {
  test("of the output, while it is staged: names the folder; with more room nothing is lost", async (t) => {
    const project = new Project(t, lines);
    const disk = new SmallDisk(t, project.path("out"), "128k");
    assertEnded(await project.epochflow("run", "words.ts"), 1, "there is no space left", project.path("out"));
    disk.remount("size=64m");
    await project.finishes(lines);
  });

  test("of the state: names it; with more room nothing is lost", async (t) => {
    const project = new Project(t, lines);
    const disk = new SmallDisk(t, project.path(".epochflow"), "256k");
    assertEnded(await project.epochflow("run", "words.ts"), 1, "there is no space left", ".epochflow");
    disk.remount("size=64m");
    await project.finishes(lines);
  });

  test("of the state, before there is a ledger", async (t) => {
    const project = new Project(t);
    const disk = new SmallDisk(t, project.path(".epochflow"), "16k");
    writeFileSync(project.path(".epochflow", "filler"), Buffer.alloc(12 * 1024));
    assertEnded(await project.run(), 1, "no space left", ".epochflow");
    rmSync(project.path(".epochflow", "filler"));
    disk.remount("size=8m");
    await project.finishes(goodLines);
  });
});

suite("a read-only disk", { skip }, () => {
  test("of the state: names it, and the run goes on once it is writable", async (t) => {
    const project = new Project(t);
    const disk = new SmallDisk(t, project.path(".epochflow"), "8m");
    disk.remount("ro");
    assertEnded(await project.run(), 1, ".epochflow", /read-?only/i);
    disk.remount("rw");
    await project.finishes(goodLines);
  });

  test("of the output", async (t) => {
    const project = new Project(t);
    const disk = new SmallDisk(t, project.path("out"), "8m");
    disk.remount("ro");
    assertEnded(await project.run(), 1, project.path("out"), /read-?only/i);
    disk.remount("rw");
    await project.finishes(goodLines);
  });
});

suite("another file system mounted below the output", { skip }, () => {
  test("is found when rows are staged, and nothing is lost", async (t) => {
    const project = new Project(t);
    mkdirSync(project.path("out", ".epochflow"), { recursive: true });
    const disk = new SmallDisk(t, project.path("out", ".epochflow"), "8m");
    assertEnded(await project.run(), 1, "file system", project.path("out"));
    disk.unmount();
    await project.finishes(goodLines);
  });
});
