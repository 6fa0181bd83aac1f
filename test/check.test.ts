/** `epochflow check` on pipelines of files: everything that is wrong is told in one go, and nothing is left behind. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openLedger, statePaths } from "../local/compose.ts";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { LossError } from "../shared/errors.ts";
import { cliIn } from "./support/cli.ts";
import { differences, folderOf, readTree } from "./support/folder.ts";
import { assertEnded } from "./support/words.ts";

const moduleOf = ({ parse = "Number(line)", size = 10, onError = '"fail"' } = {}) => `
  import { count, files, parameter, pipeline, seconds, tumbling } from "epochflow";
  export default pipeline("numbers", { onError: ${onError} })
    .from(files.source({ path: parameter("input"), value: (line: string) => line.split(" "), timestamp: ([at]) => Number(at) }))
    .map(([, line]) => {
      const value = ${parse};
      if (Number.isNaN(value)) throw new Error("no number");
      return value;
    }, { id: "parse" })
    .keyBy((value) => value % 3)
    .window(tumbling(seconds(${size})))
    .aggregate({ count: count() })
    .to(files.sink({ path: parameter("output", "out") }), { id: "counts" });`;

const at = 1_700_000_000_000;
const goodLines = Array.from({ length: 50 }, (_, index) => `${at + index} ${index}`);

function project(context: TestContext, lines: readonly string[] = goodLines) {
  const cwd = folderOf(context);
  const write = (options = {}) => writeFileSync(join(cwd, "numbers.ts"), moduleOf(options));
  write();
  writeFileSync(join(cwd, "in.txt"), lines.map((line) => `${line}\n`).join(""));
  const set = ["--set", "input=in.txt"];
  return { cwd, write, cli: (...args: string[]) => cliIn(cwd, ...args), set, state: join(cwd, ".epochflow/numbers") };
}

const codesOf = (stdout: string): string[] =>
  JSON.parse(stdout).topics.flatMap(({ findings }: { findings: { code: string }[] }) =>
    findings.map(({ code }) => code),
  );

test("nothing is wrong, before the first run and after it; and nothing is left behind", async (context) => {
  const { cwd, cli, set } = project(context);
  const before = readTree(cwd);
  const checked = await cli("check", "numbers.ts", ...set);
  assertEnded(checked, 0);
  assert.match(checked.stdout, /^- types +not checked: TypeScript is not installed here/m);
  assert.match(checked.stdout, /^✓ samples +5 records tried$/m);
  assert.match(checked.stdout, /Nothing is wrong\.\n$/);
  assert.deepEqual(differences(readTree(cwd), before), []);
  assertEnded(await cli("run", "numbers.ts", ...set), 0);
  const [state] = [readTree(cwd)];
  const again = await cli("check", "numbers.ts", ...set);
  assertEnded(again, 0);
  assert.match(again.stdout, /0 B to read/);
  assert.match(again.stdout, /^✓ state +\.epochflow\/numbers: \d+ epochs decided, \d+ committed$/m);
  assert.deepEqual(differences(readTree(cwd), state), []);
});

test("all problems come in one go, each with its way out", async (context) => {
  const { cwd, cli } = project(context);
  const { stdout, code } = await cli("check", "numbers.ts", "--set", "inptu=x", "--set", "output=numbers.ts", "--json");
  assert.equal(code, 1);
  assert.deepEqual(codesOf(stdout), ["unknown-parameter", "missing-parameter", "not-a-folder"]);
  const { errors, topics } = JSON.parse(stdout);
  assert.equal(errors, 3);
  for (const { findings } of topics) for (const { wayOut } of findings) assert.match(wayOut, /\w/);
  mkdirSync(join(cwd, "folder"));
  const overlap = await cli("check", "numbers.ts", "--set", "input=folder", "--set", "output=folder/out", "--json");
  assert.ok(codesOf(overlap.stdout).includes("output-in-input"), overlap.stdout);
  assertEnded(await cli("check", "nothing.ts"), 1);
  const broken = await cli("check", "in.txt");
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, /✗ module/);
});

test("records are tried: those that fail are told, by operator and place", async (context) => {
  const { cli, set, write } = project(context, [
    ...goodLines.slice(0, 2),
    `${at} x`,
    "no-time 5",
    `${at / 1000} 7`,
    ...goodLines,
  ]);
  const failing = await cli("check", "numbers.ts", ...set, "--json");
  assert.equal(failing.code, 1);
  assert.deepEqual(codesOf(failing.stdout).sort(), ["sample-failed", "sample-failed", "time-in-seconds"]);
  assert.match(failing.stdout, /the pipeline stops there.*"operator":"parse","partition":"in.txt","offset":32/);
  write({ onError: '"skip"' });
  const skipping = await cli("check", "numbers.ts", ...set);
  assertEnded(skipping, 0);
  assert.match(skipping.stdout, /^! samples +5 records tried\n {2}warning: .*: the record is skipped/m);
  assert.match((await cli("check", "numbers.ts", ...set, "--samples", "2")).stdout, /^✓ samples +2 records tried$/m);
  assert.doesNotMatch((await cli("check", "numbers.ts", ...set, "--samples", "0")).stdout, /samples/);
});

test("rows are tried, too: in the formats and folders of the sinks that they reach", async (context) => {
  const { cwd, cli, set } = project(context);
  writeFileSync(
    join(cwd, "folders.ts"),
    `import { files, kafka, parameter, pipeline, text } from "epochflow";
    const lines = pipeline("folders").from(files.source({ path: parameter("input"), value: text() })).map((line) => ({ line }));
    lines.to(kafka.sink({ topic: parameter("topic"), value: ({ line }) => line }), { id: "topic" });
    export default lines.to(files.sink({ path: "out", partitionBy: "{lime}" as never }), { id: "rows" });`,
  );
  const { stdout } = await cli("check", "folders.ts", ...set, "--samples", "1");
  assert.match(stdout, /^✗ samples +1 record tried\n {2}error: sink rows: .* no field "lime".*Did you mean "line"/m);
  assert.match(stdout, /"topic" has no value/);
});

test("types are checked by the user's own TypeScript, those of the pipeline's files alone", async (context) => {
  const { cwd, cli, set, write } = project(context);
  const root = fileURLToPath(new URL("..", import.meta.url));
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(join(root, "node_modules/typescript"), join(cwd, "node_modules/typescript"));
  symlinkSync(root, join(cwd, "node_modules/epochflow"));
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    customConditions: ["epochflow-source"],
    typeRoots: [join(root, "node_modules/@types")],
    types: ["node"],
  };
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(cwd, "other.ts"), 'export const wrong: number = "text";');
  const right = await cli("check", "numbers.ts", ...set);
  assertEnded(right, 0);
  assert.match(right.stdout, /^✓ types +checked by TypeScript/m);
  write({ parse: "line.length.toUpperCase()" });
  const wrong = await cli("check", "numbers.ts", ...set);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /error: TS\d+: .*toUpperCase.*\n +where: file numbers\.ts, line 6/);
  assert.doesNotMatch(wrong.stdout, /other\.ts/);
});

test("of the state: another topology, other parameters, a name, a stop, a process at work", async (context) => {
  const { cli, set, write, state } = project(context);
  assertEnded(await cli("run", "numbers.ts", ...set), 0);
  write({ size: 20 });
  const changed = await cli("check", "numbers.ts", ...set, "--set", "output=other");
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /error: .*window-1: the size was 10 seconds, is 20 seconds/);
  assert.match(changed.stdout, /warning: .*output was "out", is "other"/);
  write();
  const foreign = await cli("check", "numbers.ts", ...set, "--name", "others", "--state", state, "--json");
  assert.deepEqual(codesOf(foreign.stdout).sort(), ["foreign-state", "output-belongs-to-another"]);
  const lock = LeaseLock.tryAcquire(statePaths(state).lease);
  assert.match((await cli("check", "numbers.ts", ...set)).stdout, /warning: Another process works on/);
  lock?.release();
  const ledger = openLedger(state);
  const owner = await ledger.grant(await ledger.wake());
  await ledger.stop(new LossError("gone", "it is gone", { wayOut: "Bring it back." }).describe(), { owner: owner! });
  await ledger.close();
  const stopped = await cli("check", "numbers.ts", ...set);
  assert.match(stopped.stdout, /error: The pipeline is stopped: it is gone\n.*way out: Bring it back\. .*resume/);
});

test("an input that is not there, or not readable, an output that is not writable or another's", async (context) => {
  const { cwd, cli, set } = project(context);
  assert.ok(codesOf((await cli("check", "numbers.ts", "--set", "input=nope.txt", "--json")).stdout).length > 0);
  assertEnded(await cli("run", "numbers.ts", ...set), 0);
  const another = await cli("check", "numbers.ts", ...set, "--state", "new", "--json");
  assert.deepEqual(codesOf(another.stdout), ["output-belongs-to-another"]);
  if (process.getuid?.() === 0) return;
  mkdirSync(join(cwd, "closed"));
  chmodSync(join(cwd, "closed"), 0o500);
  const closed = await cli("check", "numbers.ts", ...set, "--name", "n", "--set", "output=closed/out", "--json");
  assert.ok(codesOf(closed.stdout).includes("not-permitted"));
});
