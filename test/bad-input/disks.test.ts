import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { SmallDisk, whyNoMounts } from "./mounts.ts";
import { assertEnded, goodLines, lineOf, Project } from "./project.ts";

/** As many keys as lines, which no compression makes small: output and state are larger than the small disks here. */
const lines = Array.from({ length: 8_000 }, (_, index) =>
  lineOf(index, createHash("sha256").update(String(index)).digest("hex")),
);
const skip = whyNoMounts();

suite("a full disk", { skip }, () => {
  test("of the output, while it is staged: names the folder; with more room nothing is lost", async (t) => {
    const project = new Project(t, lines);
    using disk = new SmallDisk(project.path("out"), "128k");
    assertEnded(await project.epochflow("run", "words.ts"), 1, "there is no space left", project.path("out"));
    disk.remount("size=64m");
    await project.finishes(lines, "--epoch-records", "5000");
  });

  test("of the state: names it; with more room nothing is lost", async (t) => {
    const project = new Project(t, lines);
    using disk = new SmallDisk(project.path(".epochflow"), "200k");
    assertEnded(await project.epochflow("run", "words.ts"), 1, "there is no space left", ".epochflow");
    disk.remount("size=64m");
    await project.finishes(lines, "--epoch-records", "5000");
  });

  test("of the state, before there is a ledger", async (t) => {
    const project = new Project(t);
    using disk = new SmallDisk(project.path(".epochflow"), "16k");
    writeFileSync(project.path(".epochflow", "filler"), Buffer.alloc(8 * 1024));
    assertEnded(await project.run(), 1, "no space left", ".epochflow");
    rmSync(project.path(".epochflow", "filler"));
    disk.remount("size=8m");
    await project.finishes(goodLines);
  });
});

suite("a read-only disk", { skip }, () => {
  test("of the state, before there is one: names it", async (t) => {
    const project = new Project(t);
    using disk = new SmallDisk(project.path(".epochflow"), "8m");
    disk.remount("ro");
    assertEnded(await project.run(), 1, ".epochflow", "read-only", "way out");
    disk.remount("rw");
    await project.finishes(goodLines);
  });

  test("of the state, later: names it", async (t) => {
    const project = new Project(t, goodLines.slice(0, 30));
    using disk = new SmallDisk(project.path(".epochflow"), "8m");
    assertEnded(await project.run("--hold"), 0);
    disk.remount("ro");
    project.input(goodLines);
    assertEnded(await project.run(), 1, "Cannot write", "ledger.db", "right to write");
    disk.remount("rw");
    await project.finishes(goodLines);
  });

  test("of the output: names it", async (t) => {
    const project = new Project(t);
    using disk = new SmallDisk(project.path("out"), "8m");
    disk.remount("ro");
    assertEnded(await project.run(), 1, project.path("out"), "read-only", "way out");
    disk.remount("rw");
    await project.finishes(goodLines);
  });
});

suite("another file system mounted below the output: names it, and publishes nothing half", { skip }, () => {
  test("before the first run", async (t) => {
    const project = new Project(t);
    mkdirSync(project.path("out"));
    {
      using _disk = new SmallDisk(project.path("out", ".epochflow", "staging"), "8m");
      assertEnded(await project.run(), 2, "is on another file system", project.path("out"), "Unmount");
    }
    await project.finishes(goodLines);
  });

  test("later", async (t) => {
    const project = new Project(t, goodLines.slice(0, 30));
    assertEnded(await project.run("--hold"), 0);
    project.input(goodLines);
    {
      using _disk = new SmallDisk(project.path("out", ".epochflow", "staging"), "8m");
      assertEnded(await project.run(), 2, "is on another file system", project.path("out"), "Unmount");
    }
    await project.finishes(goodLines);
  });
});
