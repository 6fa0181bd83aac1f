import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cliIn } from "../support/cli.ts";
import { folderOf } from "../support/folder.ts";

/** A pipeline's module; `body` is the function of its map. */
function moduleIn(context: TestContext, body: string, sample: string): string {
  const folder = folderOf(context);
  const text = `import { count, files, parameter, pipeline, tumbling } from "epochflow";
export const sample = ${sample};
export default pipeline("words")
  .from(files.source({ path: parameter("input"), value: (text) => text.split(" "), timestamp: ([time]) => Number(time) }))
  .map(${body}, { id: "tagged" })
  .keyBy(({ word }) => word)
  .window(tumbling(10))
  .aggregate({ count: count() })
  .to(files.sink({ path: parameter("output") }), { id: "counts" });
`;
  writeFileSync(join(folder, "words.ts"), text);
  return folder;
}

const sample = JSON.stringify(Array.from({ length: 50 }, (_, index) => `${index} ${"abc"[index % 3]}`));
const lastLine = (text: string): string | undefined => text.trim().split("\n").at(-1);

test("verify: a sound pipeline has no violation, and every seed is told", async (context) => {
  const cwd = moduleIn(context, "([, word = ''] ) => ({ word })", sample);
  const { code, stdout } = await cliIn(cwd, "verify", "words.ts", "--seeds", "30", "--seed", "7");
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Seeds 7 to 36: 30 runs/);
  assert.match(stdout, /crash before a call +\d/);
  assert.equal(lastLine(stdout), "words: no violation in 30 runs");
});

test("verify: a function that is not deterministic is found, and named", async (context) => {
  const cwd = moduleIn(context, "([, word = '']) => ({ word: word + Math.floor(Math.random() * 3) })", sample);
  const { code, stdout } = await cliIn(cwd, "verify", "words.ts", "--seeds", "30");
  assert.equal(code, 1);
  assert.match(lastLine(stdout)!, /seed \d+ breaks user code: operator tagged is not deterministic/);
});

test("verify: a function that throws is found, and named", async (context) => {
  const body = "([, word = '']) => { if (word === 'c') throw new Error('no c'); return { word }; }";
  const { code, stdout } = await cliIn(moduleIn(context, body, sample), "verify", "words.ts", "--seeds", "30");
  assert.equal(code, 1);
  assert.match(lastLine(stdout)!, /breaks user code: tagged throws: .*no c/);
});

test("verify: what is no sample is refused before anything begins", async (context) => {
  const cwd = moduleIn(context, "([, word = '']) => ({ word })", "42");
  const { code, stderr } = await cliIn(cwd, "verify", "words.ts");
  assert.equal(code, 2);
  assert.match(stderr, /"sample" of pipeline words is no list of records/);
});
