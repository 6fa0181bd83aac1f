/** The command as its users see it: a process with arguments, output and an exit code. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, existsSync, openSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openLedger, statePaths } from "../local/compose.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import { cliIn, type Started, startCli } from "./support/cli.ts";
import { folderOf } from "./support/folder.ts";

const launcher = fileURLToPath(new URL("../cli/bin.mjs", import.meta.url));

/** Counts words by minute; lines are `<second> <word>`. On the word "bad" the pipeline's code throws. */
const wordsByMinute = `import { count, files, minutes, parameter, pattern, pipeline, seconds, tumbling } from "epochflow";

const line = pattern<"second" | "word">(/^(?<second>\\d+) (?<word>.*)$/);

function check(word: string): boolean {
  if (word === "bad") throw new TypeError("this word is bad");
  return true;
}

export default pipeline("words")
  .from(files.source({
    path: parameter("input", "in.txt"),
    value: line,
    timestamp: ({ second }) => Number(second) * 1000,
    outOfOrder: seconds(0),
  }))
  .filter(({ word }) => check(word))
  .keyBy(({ word }) => word)
  .window(tumbling(minutes(1)))
  .aggregate({ count: count() })
  .to(files.sink({ path: parameter("output", "out") }), { id: "counts" });
`;

/** A word a second: a, b, c in turn. */
function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `${from + index} ${"abc"[(from + index) % 3]}\n`).join("");
}

/** What the pipeline makes of `lines(0, 60 * minutes)`, sorted. */
function rowsOf(minutes: number): string[] {
  const rows = Array.from({ length: minutes }, (_, minute) =>
    ["a", "b", "c"].map((key) => ({ key, windowStart: minute * 60_000, windowEnd: (minute + 1) * 60_000, count: 20 })),
  );
  return rows
    .flat()
    .map((row) => JSON.stringify(row))
    .sort();
}

/** A working directory with the pipeline and its input, in which to call the command. */
function project(context: TestContext, input = lines(0, 120)) {
  const cwd = folderOf(context);
  writeFileSync(join(cwd, "words.ts"), wordsByMinute);
  writeFileSync(join(cwd, "in.txt"), input);
  const run = (...args: string[]) => cliIn(cwd, ...args);
  return {
    cwd,
    run,
    rows: async () => (await run("read", "out")).stdout.trimEnd().split("\n").sort(),
    /** A run with so many epochs that it lasts; resolves when the first of them is committed. */
    startLongRun: async () => {
      const started = startCli(["run", "words.ts", "--epoch-records", "1"], { cwd });
      await watch(started, join(cwd, ".epochflow/words"), async (ledger) => (await ledger.head())!.committed > 0);
      return started;
    },
  };
}

/** Waits until something is true of the ledger of a run, which must not end before. */
async function watch({ child, finished }: Started, state: string, until: (ledger: Ledger) => Promise<boolean>) {
  const pause = async () => {
    if (child.exitCode !== null) throw new Error(`The run has ended: ${(await finished).stderr}`);
    await setTimeout(20);
  };
  while (!existsSync(statePaths(state).ledger)) await pause();
  const ledger = await openLedger(state);
  while ((await ledger.head()) === undefined || !(await until(ledger))) await pause();
  await ledger.close();
}

/** Seconds of a long run: more than it can do before a test reacts, and less than anybody would wait for. */
const longInput = lines(0, 1200);

describe("help", () => {
  const commands = [
    "run",
    "read",
    "explain",
    "init",
    "check",
    "replay",
    "verify",
    "lag",
    "status",
    "epochs",
    "pause",
    "resume",
    "abandon",
    "reset",
  ];

  test("names all commands, and what exit codes mean", async (context) => {
    const { code, stdout, stderr } = await project(context).run("--help");
    assert.deepEqual([code, stderr], [0, ""]);
    for (const command of commands) assert.match(stdout, new RegExp(`^ {2}${command} `, "m"));
    for (const meaning of [0, 1, 2, 3, 4, 130]) assert.match(stdout, new RegExp(`^ {2}${meaning} `, "m"));
  });

  for (const command of commands) {
    test(`of ${command} has examples`, async (context) => {
      const { code, stdout } = await project(context).run(command, "--help");
      assert.equal(code, 0);
      const examples = stdout.match(new RegExp(`^ {2}\\$ epochflow ${command}\\b`, "gm")) ?? [];
      assert.ok(examples.length >= 2 && examples.length <= 4, stdout);
    });
  }

  test("comes as an error where there is no command", async (context) => {
    const { code, stdout, stderr } = await project(context).run();
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^Usage: epochflow/);
  });
});

test("read --after goes on behind an epoch, and behind none with 0", async (context) => {
  const { run } = project(context);
  assert.equal((await run("run", "words.ts", "--epoch-records", "40")).code, 0);
  const read = async (...args: string[]) => (await run("read", "out", ...args)).stdout;
  const all = await read();
  assert.ok(all !== "");
  assert.equal(await read("--after", "0"), all);
  const rest = await read("--after", "2");
  assert.ok(all.endsWith(rest) && rest.length < all.length, rest);
  assert.equal(await read("--after", "1000"), "");
});

test("the version", async (context) => {
  assert.match((await project(context).run("--version")).stdout, /^\d+\.\d+\.\d+\n$/);
});

describe("a wrong call leaves with 2, names the nearest right one, and begins nothing:", () => {
  const cases: [call: string, error: RegExp][] = [
    ["rnu", /^error: Unknown command "rnu"\. Did you mean run\?\n {2}way out: `epochflow --help` lists/],
    ["words.ts", /way out: To run a pipeline: epochflow run words\.ts/],
    ["run", /Missing required argument "pipeline"\n {2}way out: `epochflow run --help`/],
    ["run words.ts --epoch-record 5", /Unknown option "--epoch-record"\. Did you mean --epoch-records\?/],
    ["run words.ts --epoch-records x", /--epoch-records takes a whole number from 1, not "x"/],
    ["run words.ts --epoch-interval 5", /--epoch-interval takes a duration, not "5"\. Did you mean 5s\?/],
    ["run words.ts --set input", /--set takes NAME=VALUE, not "input"/],
    ["run words.ts --set inputt=x", /"inputt".*Did you mean "input"\?/],
    ["run wrods.ts", /There is no file wrods\.ts\. Did you mean "words\.ts"\?/],
    ["read nowhere", /nowhere is not the output folder/],
    ["status", /There is no state of a pipeline below \.epochflow/],
    ["status --state nowhere", /nowhere does not exist/],
    ["explain in.txt", /neither TypeScript nor JavaScript/],
    ["abandon --sink counts", /--epoch <n>/],
    ["epochs --last 0", /--last takes a whole number from 1/],
  ];
  for (const [call, error] of cases) {
    test(call, async (context) => {
      const { run, cwd } = project(context);
      const { code, stdout, stderr } = await run(...call.split(" "));
      assert.match(stderr, error);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.doesNotMatch(stderr, /\n +at /, "a stack");
      assert.equal(existsSync(join(cwd, "out")), false);
    });
  }
});

test("an input that is not there: 2, and the nearest one is named", async (context) => {
  const { code, stderr } = await project(context).run("run", "words.ts", "--set", "input=im.txt");
  assert.equal(code, 2);
  assert.match(stderr, /im\.txt.*Did you mean ".*in\.txt"\?/);
});

test("stacks come with EPOCHFLOW_DEBUG=1", async (context) => {
  const { cwd } = project(context);
  const { stderr } = await startCli(["run", "x.ts"], { cwd, env: { EPOCHFLOW_DEBUG: "1" } }).finished;
  assert.match(stderr, /^error: .*\n +at /s);
});

test("explain needs no values for parameters, and touches nothing", async (context) => {
  const { run, cwd } = project(context);
  const { code, stdout, stderr } = await run("explain", "words.ts");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^Pipeline words$.*tumbling windows of 1 minute.*^Parameters$/ms);
  assert.equal(JSON.parse((await run("explain", "words.ts", "--json")).stdout).name, "words");
  assert.equal(existsSync(join(cwd, ".epochflow")), false);
});

test("a pipeline's life: run, read, status, epochs, nothing to do, more input, reset", async (context) => {
  const { run, rows, cwd } = project(context);
  const first = await run("run", "words.ts", "--epoch-records", "50");
  assert.deepEqual([first.code, first.stdout], [0, ""], first.stderr);
  assert.match(first.stderr, /^Done\..*120 records.*6 rows.*4 epochs.*sink counts +out .*state +\.epochflow\/words/s);
  assert.match(first.stderr, /closed the windows up to 1970-01-01 00:02:00Z.*--hold/s);
  assert.deepEqual(await rows(), rowsOf(2));

  assert.match((await run("status")).stdout, /^status +ready$.*^epochs +4 decided, 4 committed$/ms);
  const status = JSON.parse((await run("status", "words", "--json")).stdout);
  assert.deepEqual([status.decided, status.committed, status.atWork], [4, 4, false]);
  assert.equal(status.checkpointBytes, 0, "all windows are closed");

  assert.equal((await run("epochs", "words.ts")).stdout.trimEnd().split("\n").length, 5);
  const epochs = (await run("epochs", "--json", "--last", "2")).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    epochs.map(({ epoch, decision }) => [epoch, decision.counts.records]),
    [
      [3, 20],
      [4, 0],
    ],
  );

  const again = await run("run", "words.ts", "--json");
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stderr, /^Nothing to do/);
  assert.equal(JSON.parse(again.stdout).outcome, "nothing-new");

  appendFileSync(join(cwd, "in.txt"), lines(120, 180));
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.deepEqual(await rows(), rowsOf(3));

  assert.equal((await run("reset", "words.ts", "--yes")).code, 0);
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.deepEqual(await rows(), [...rowsOf(3), ...rowsOf(3)].sort());
});

test("read ends in peace when its reader has seen enough, and loudly when the disk is full", async (context) => {
  const { run, cwd } = project(context, Array.from({ length: 20_000 }, (_, n) => `${n} word-${n}\n`).join(""));
  const { code, stderr } = await run("run", "words.ts");
  assert.equal(code, 0, stderr);

  const reader = spawn(process.execPath, [launcher, "read", "out"], { cwd });
  let errors = "";
  reader.stderr.on("data", (text) => (errors += text));
  await once(reader.stdout, "data");
  reader.stdout.destroy();
  assert.deepEqual([(await once(reader, "close"))[0], errors], [0, ""]);

  const full = openSync("/dev/full", "w");
  const failed = spawnSync(process.execPath, [launcher, "read", "out"], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  assert.equal(failed.status, 1);
  assert.match(failed.stderr, /^error: .*ENOSPC/);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} ends a run after its epoch with 130, and the next run goes on`, async (context) => {
    const { run, rows, startLongRun } = project(context, longInput);
    const long = await startLongRun();
    long.child.kill(signal);
    const { code, stderr } = await long.finished;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /Ending after the running epoch.*Interrupted\./s);
    const { decided, committed } = JSON.parse((await run("status", "--json")).stdout);
    assert.ok(decided > 0 && decided < 1200 && decided === committed, `${committed} of ${decided} are committed`);
    const next = await run("run", "words.ts");
    assert.equal(next.code, 0, next.stderr);
    assert.deepEqual(await rows(), rowsOf(20));
  });
}

test("a second Ctrl-C ends a run at once, though its epoch never would, and loses nothing", async (context) => {
  const { run, rows, cwd } = project(context, `${lines(0, 60)}60 bad\n`);
  writeFileSync(join(cwd, "words.ts"), wordsByMinute.replace("throw new TypeError", "for (;;);"));
  const endless = startCli(["run", "words.ts"], { cwd });
  await watch(endless, join(cwd, ".epochflow/words"), async (ledger) => (await ledger.epoch(1)) !== undefined);
  endless.child.kill("SIGINT");
  await endless.said(/Ctrl-C again/);
  // Signals closer together than this are one keystroke.
  await setTimeout(300);
  assert.equal(endless.child.exitCode, null);
  endless.child.kill("SIGINT");
  assert.equal((await endless.finished).code, 130);
  writeFileSync(join(cwd, "words.ts"), wordsByMinute.replace('word === "bad"', "false"));
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.equal((await rows()).length, 4);
});

test("of two processes on a state one leaves with 3, or waits; reset does not disturb it", async (context) => {
  const { run, rows, startLongRun } = project(context, longInput);
  const long = await startLongRun();
  const second = await run("run", "words.ts");
  assert.equal(second.code, 3, second.stderr);
  assert.match(second.stderr, /another process works on.*--wait/is);
  assert.equal((await run("reset", "words.ts", "--yes")).code, 3);
  assert.match((await run("status")).stdout, /^process +at work/m);
  const waiting = run("run", "words.ts", "--wait");
  long.child.kill("SIGINT");
  assert.equal((await long.finished).code, 130);
  const { code, stderr } = await waiting;
  assert.equal(code, 0, stderr);
  assert.deepEqual(await rows(), rowsOf(20));
});

test("pause ends a run with 0; until resume, run does nothing and leaves with 1", async (context) => {
  const { run, rows, startLongRun } = project(context, longInput);
  const long = await startLongRun();
  assert.match((await run("pause")).stderr, /words is paused\. The process that is at work ends after its epoch\./);
  const paused = await long.finished;
  assert.equal(paused.code, 0, paused.stderr);
  assert.match(paused.stderr, /Paused after the running epoch/);
  const refused = await run("run", "words.ts");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /The pipeline is paused, so nothing was done.*epochflow resume/);
  assert.equal((await run("resume")).code, 0);
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.deepEqual(await rows(), rowsOf(20));
});

test("the user's code fails: 1, with the record's place; mended, the next run goes on", async (context) => {
  const { run, rows, cwd } = project(context, `${lines(0, 60)}60 bad\n`);
  const { code, stderr } = await run("run", "words.ts");
  assert.equal(code, 1, stderr);
  assert.match(stderr, /Stopped\..*this word is bad.*filter-1.*in\.txt.*line 61/s);
  writeFileSync(join(cwd, "words.ts"), wordsByMinute.replace('word === "bad"', "false"));
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.deepEqual((await rows()).length, 4);
});

test("an input that was replaced half-way: 4 (I8), until it is brought back and resumed", async (context) => {
  const { run, rows, cwd, startLongRun } = project(context, longInput);
  const long = await startLongRun();
  long.child.kill("SIGINT");
  assert.equal((await long.finished).code, 130);
  const kept = join(folderOf(context), "in.txt");
  renameSync(join(cwd, "in.txt"), kept);
  writeFileSync(join(cwd, "in.txt"), longInput.replaceAll("a", "z"));
  const { code, stderr } = await run("run", "words.ts");
  assert.equal(code, 4, stderr);
  assert.match(stderr, /Stopped\..*in\.txt/s);
  renameSync(kept, join(cwd, "in.txt"));
  assert.equal((await run("run", "words.ts")).code, 4, "a loss stays until the user's word");
  assert.equal((await run("resume")).code, 0);
  assert.equal((await run("run", "words.ts")).code, 0);
  assert.deepEqual(await rows(), rowsOf(20));
});
