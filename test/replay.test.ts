/** Dead letters of files, and `epochflow replay`, by the program that users run. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { cliIn } from "./support/cli.ts";
import { folderOf } from "./support/folder.ts";
import { assertEnded } from "./support/words.ts";

const moduleOf = (parse: string) => `
  import { deadLetter, files, parameter, pipeline } from "epochflow";
  export default pipeline("numbers", { onError: deadLetter(files.sink({ path: "dead" })) })
    .from(files.source({ path: parameter("input", "in"), value: (line) => line, maxLineBytes: 100 }))
    .map((line) => {
      const value = ${parse};
      if (!Number.isInteger(value)) throw new Error("no number: " + line.slice(0, 1));
      return value;
    }, { id: "parse" })
    .to(files.sink({ path: "out" }), { id: "out" });`;

function project(context: TestContext, lines: readonly string[]) {
  const cwd = folderOf(context);
  const program = (parse: string) => writeFileSync(join(cwd, "numbers.ts"), moduleOf(parse));
  program("Number(line)");
  mkdirSync(join(cwd, "in"));
  writeFileSync(join(cwd, "in/first.txt"), lines.map((line) => `${line}\n`).join(""));
  const rows = async () =>
    (await cliIn(cwd, "read", "out")).stdout
      .trimEnd()
      .split("\n")
      .map(Number)
      .sort((a, b) => a - b);
  return { cwd, program, rows, cli: (...args: string[]) => cliIn(cwd, ...args) };
}

const lines = ["1", "x2", "3", "y4", "5", "x6", `7${" ".repeat(200)}`];

test("the pipeline is mended, and its records go back into the folder that it reads: each once", async (context) => {
  const { cwd, cli, program, rows } = project(context, lines);
  assertEnded(await cli("run", "numbers.ts"), 0, /4 dead-lettered/);
  const dry = await cli("replay", "numbers.ts", "--dry-run", "--json");
  assertEnded(
    dry,
    0,
    /2 +parse +no number: x/,
    /to put back +3 records, into in$/m,
    /not possible +1: it is too large/,
  );
  assert.deepEqual([JSON.parse(dry.stdout).records, readdirSync(join(cwd, "in"))], [3, ["first.txt"]]);

  program('Number(line.replace("x", ""))');
  assertEnded(
    await cli("replay", "numbers.ts", "--yes"),
    0,
    /3 records put back into in/,
    /remembered in \.epochflow\/replays\//,
  );
  assertEnded(await cli("run", "numbers.ts"), 0, /1 dead-lettered/);
  assert.deepEqual(await rows(), [1, 2, 3, 5, 6]);

  program('Number(line.replace(/[xy]/, ""))');
  assertEnded(
    await cli("replay", "numbers.ts", "--yes"),
    0,
    /in a loop +1 record that failed again, after 1 replay at most/,
    /1 record put back/,
  );
  assert.ok(readdirSync(join(cwd, "in")).some((name) => name.startsWith("replay-2-")));
  assertEnded(await cli("run", "numbers.ts"), 0);
  assert.deepEqual(await rows(), [1, 2, 3, 4, 5, 6]);
  assertEnded(await cli("replay", "numbers.ts", "--yes"), 0, /to put back +0 records/, /4 records, put back before/);
});

test("from a folder to another, some of them first, then the others", async (context) => {
  const { cwd, cli, program } = project(context, lines);
  assertEnded(await cli("run", "numbers.ts"), 0);
  assertEnded(
    await cli("replay", "dead", "--to", "again", "--error", "number: y", "--yes"),
    0,
    /1 record put back into again/,
  );
  assertEnded(
    await cli("replay", "dead", "--to", "again", "--operator", "parse", "--yes"),
    0,
    /2 records put back/,
    /1 record, put back before/,
  );
  program('Number(line.replace(/[xy]/, ""))');
  const options = ["--name", "numbers-again", "--set", "input=again"];
  assertEnded(await cli("run", "numbers.ts", ...options), 4, /belongs to sink/);
  assert.equal(readdirSync(join(cwd, "again")).length, 2);
});

test("what cannot be is said, with the way out", async (context) => {
  const { cli, program } = project(context, lines);
  assertEnded(await cli("run", "numbers.ts"), 0);
  const wrong: [string[], RegExp][] = [
    [["dead"], /Where shall the records go\?\n.*--to FOLDER/],
    [["dead", "--to", "topic:orders"], /Which cluster has the topic orders\?\n.*--brokers/],
    [["dead", "--to", "s3://bucket/prefix"], /into a bucket/],
    [["deed", "--to", "x"], /deed is not the output folder of a files sink.*Did you mean "dead"/],
    [["out", "--to", "x"], /rows that are no dead letters/],
    [["dead", "--to", "x", "--since", "yesterday"], /--since takes a time/],
    [["dead", "--to", "x", "--since", "1h"], /no time of their own/],
    [["dead", "--to", "x", "--set", "a=b"], /dead is none/],
    [["dead", "--to", "x"], /asks first/],
    [["numbers.ts", "--set", "input=in/first.txt"], /no folder and no topic/],
  ];
  for (const [args, message] of wrong) assertEnded(await cli("replay", ...args), 2, message);
  program("Number(line)");
  assertEnded(await cli("replay", "nothing.ts"), 2, /no file nothing\.ts/);
});
