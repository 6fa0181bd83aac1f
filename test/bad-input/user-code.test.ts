import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { assertEnded, goodLines, lineOf, Project } from "./project.ts";

/** Line 33 has a word with which the user's function cannot cope. */
const lines = goodLines.with(32, lineOf(32_000, "poison"));
const offset = Buffer.byteLength(`${goodLines.slice(0, 32).join("\n")}\n`);
const others = lines.toSpliced(32, 1);

const onPoison = (what: string) => ({ map: `if (word === "poison") { ${what} } return word;` });

/** It fails with this; mended, the next run goes on by itself, and nothing is lost. */
async function assertMendable(t: TestContext, text: { map: string }, args: string[], ...said: (string | RegExp)[]) {
  const project = new Project(t, lines, text);
  assertEnded(await project.run(...args), 1, ...said);
  project.pipeline({});
  await project.finishes(lines);
}

suite("a user function", () => {
  test("throws: names operator, file, line and offset", (t) =>
    assertMendable(
      t,
      onPoison('throw new Error("no such word");'),
      [],
      "check",
      "no such word",
      "in.txt",
      "line 33",
      `offset ${offset}`,
    ));

  test("throws what is no error", (t) => assertMendable(t, onPoison("throw null;"), [], "check", "null"));

  test("throws, and is skipped", async (t) => {
    const project = new Project(t, lines, { ...onPoison("throw new Error();"), options: '{ onError: "skip" }' });
    assertEnded(await project.finishes(others), 0, "1 skipped");
  });

  test("throws, and is dead-lettered", async (t) => {
    const options = '{ onError: deadLetter(files.sink({ path: "dead" })) }';
    const project = new Project(t, lines, { ...onPoison('throw new Error("no such word");'), options });
    await project.finishes(others);
    const place = { operator: "check", partition: "in.txt", offset };
    assert.deepEqual(await project.rows("dead"), [
      { error: "no such word", ...place, value: lines[32], record: { source: "files" } },
    ]);
  });

  test("never returns: names operator and offset", (t) =>
    assertMendable(
      t,
      onPoison("for (;;) {}"),
      ["--task-timeout", "3s"],
      "did not end within 3 s",
      "check",
      /offset \d+/,
      "in.txt",
      "--task-timeout",
    ));

  test("returns a promise", (t) =>
    assertMendable(t, onPoison("return Promise.reject(new Error()) as never;"), [], "check", "promise", "line 33"));

  test("calls process.exit()", (t) => assertMendable(t, onPoison("process.exit(0);"), [], "process.exit"));

  test("leaves an exception to the event loop", (t) =>
    assertMendable(
      t,
      onPoison(
        'setImmediate(() => { throw new Error("thrown later"); }); for (const end = Date.now() + 5; Date.now() < end; );',
      ),
      [],
      "thrown later",
    ));

  test("takes all memory", async (t) => {
    process.env.NODE_OPTIONS = "--max-old-space-size=60";
    t.after(() => delete process.env.NODE_OPTIONS);
    const greedy = "const all = []; for (;;) all.push(new Array(1e5).fill(1.5));";
    await assertMendable(t, onPoison(greedy), [], "out of memory", "check", "--max-old-space-size");
  });
});
