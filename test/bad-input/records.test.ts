import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { assertEnded, countsOf, goodLines, lineOf, Project } from "./project.ts";

/** Line 31 lacks its tab. It begins beyond the first KiB, by which the file is known. */
const at = 30;
const bad = goodLines[at]!.replace("\t", " ");
const lines = goodLines.with(at, bad);
const offset = Buffer.byteLength(`${goodLines.slice(0, at).join("\n")}\n`);
const others = goodLines.toSpliced(at, 1);

suite("a line that cannot be decoded", () => {
  test("fail: names file, line and offset; what came before stays; mended, nothing is lost", async (t) => {
    const project = new Project(t, lines);
    assertEnded(await project.run(), 1, "there is no tab in it", `offset ${offset}`, "in.txt", `line ${at + 1}`);
    assert.ok((await project.counts()).length > 0, "epochs before it are committed");
    project.input(goodLines);
    await project.finishes(goodLines);
  });

  test("fail, and then deadLetter: the next run goes on by itself", async (t) => {
    const project = new Project(t, lines);
    assertEnded(await project.run(), 1);
    project.pipeline({ options: '{ onError: deadLetter(files.sink({ path: "dead" })) }' });
    assertEnded(await project.finishes(others), 0, "1 dead-lettered");
    assert.equal((await project.rows("dead")).length, 1);
  });

  test("mended so that lines move: an input that was begun must not change (I8), and no line is cut in two", async (t) => {
    const project = new Project(t, lines);
    assertEnded(await project.run(), 1, "epochflow reset");
    project.input(lines.with(at, `${goodLines[at]} mended`));
    assertEnded(await project.run(), 4, "in.txt was edited", "epochflow reset");
    project.input(lines);
    project.pipeline({ options: '{ onError: "skip" }' });
    assertEnded(await project.epochflow("resume"), 0);
    await project.finishes(others);
  });

  test("skip: counts it", async (t) => {
    const project = new Project(t, lines, { options: '{ onError: "skip" }' });
    assertEnded(await project.finishes(others), 0, "1 skipped");
  });

  test("deadLetter: keeps it, with where it came from", async (t) => {
    const project = new Project(t, lines, { options: '{ onError: deadLetter(files.sink({ path: "dead" })) }' });
    assertEnded(await project.finishes(others), 0, "1 dead-lettered");
    const [letter, ...more] = await project.rows("dead");
    assert.deepEqual(more, []);
    assert.deepEqual(letter, {
      error: "there is no tab in it",
      operator: "source-1",
      partition: "in.txt",
      offset,
      value: bad,
      record: { source: "files" },
    });
  });
});

test("bytes that are not UTF-8 are undecodable, and a dead letter keeps them", async (t) => {
  const project = new Project(t, [], { options: '{ onError: deadLetter(files.sink({ path: "dead" })) }' });
  const good = `${goodLines.join("\n")}\n`;
  writeFileSync(project.path("in.txt"), Buffer.concat([Buffer.from(good), Buffer.from([0x31, 0xff, 0x0a])]));
  await project.finishes(goodLines);
  const [letter] = await project.rows("dead");
  assert.deepEqual(letter?.value, { base64: Buffer.from([0x31, 0xff]).toString("base64") });
});

suite("a line over maxLineBytes", () => {
  const long = lineOf(at * 1000, "x".repeat(5000));
  const lines = goodLines.with(at, long);
  const source = "maxLineBytes: 100,";

  test("fail: names file, line and the limit; with a higher one nothing is lost", async (t) => {
    const project = new Project(t, lines, { source });
    assertEnded(await project.run(), 1, "maxLineBytes", "in.txt", `line ${at + 1}`, "100");
    project.pipeline({});
    await project.finishes(lines);
  });

  test("skip: counts it", async (t) => {
    const project = new Project(t, lines, { source, options: '{ onError: "skip" }' });
    assertEnded(await project.finishes(others), 0, "1 skipped");
  });

  test("deadLetter: keeps its beginning", async (t) => {
    const options = '{ onError: deadLetter(files.sink({ path: "dead" })) }';
    const project = new Project(t, lines, { source, options });
    await project.finishes(others);
    const [letter, ...more] = await project.rows("dead");
    assert.deepEqual(more, []);
    assert.deepEqual([letter?.partition, letter?.offset, letter?.value], ["in.txt", offset, long.slice(0, 100)]);
    assert.deepEqual(letter?.record, { source: "files", truncated: true });
    assert.match(String(letter?.error), /maxLineBytes/);
  });
});

suite("line ends", () => {
  test("CRLF, and none at the end", async (t) => {
    const project = new Project(t);
    writeFileSync(project.path("in.txt"), goodLines.join("\r\n"));
    await project.finishes(goodLines);
  });

  test("what is appended after a last line without an end is a line of its own", async (t) => {
    const project = new Project(t);
    const [first, second] = [goodLines.slice(0, 30), goodLines.slice(30)];
    writeFileSync(project.path("in.txt"), first.join("\n"));
    assert.equal((await project.run("--hold")).code, 0);
    writeFileSync(project.path("in.txt"), `\n${second.join("\n")}`, { flag: "a" });
    assertEnded(await project.run(), 0);
    assert.deepEqual(await project.counts(), countsOf(goodLines));
  });

  test("an empty file, and one of nothing but line ends", async (t) => {
    const project = new Project(t, [], { options: '{ onError: "skip" }' });
    writeFileSync(project.path("in.txt"), "");
    assertEnded(await project.run(), 0);
    writeFileSync(project.path("in.txt"), "\n\r\n\n");
    assertEnded(await project.run(), 0, "3 skipped");
  });
});
