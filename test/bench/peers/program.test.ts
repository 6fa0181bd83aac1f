import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { hasProgram } from "../../support/cached-folder.ts";
import { folderOf } from "../../support/folder.ts";
import { needing } from "../../support/needing.ts";
import { until } from "../../support/until.ts";
import { usageOf } from "./process-usage.ts";
import { Program } from "./program.ts";

const { test } = await needing(async () => (hasProgram("setpriv") ? undefined : "Needs Linux with util-linux."));

const patient = { longestMs: 60_000 };

function start(t: TestContext, script: string, limits: { longestMs: number; longestExitMs?: number } = patient) {
  const lines: string[] = [];
  const program = new Program([process.execPath, "--eval", script], folderOf(t), limits, (line) => lines.push(line));
  return { program, lines };
}

test("a program's marks, its other lines, and what it used", async (t) => {
  const { program, lines } = start(t, 'console.log("MARK start 17"); console.log("hello"); setTimeout(() => {}, 100)');
  assert.equal(await program.mark("start"), 17);
  const { failure, hung, peakBytes } = await program.ended;
  assert.deepEqual([failure, hung, lines], [undefined, false, ["hello"]]);
  assert.ok(peakBytes > 2 ** 20);
});

test("a failure says how it ended, and what it said", async (t) => {
  const { program } = start(t, 'console.error("no broker"); process.exit(3)');
  assert.match((await program.ended).failure!, /^it ended with 3, see .*\nno broker/);
  await assert.rejects(program.mark("start"), /it ended with 3/);
});

test("one that is done and does not exit is ended, and has not failed", async (t) => {
  const script = 'console.log("MARK end 1"); setInterval(() => {}, 1000)';
  const { program } = start(t, script, { ...patient, longestExitMs: 50 });
  const { failure, hung } = await program.ended;
  assert.deepEqual([failure, hung], [undefined, true]);
});

test("one that does not come to an end is ended, and has failed", async (t) => {
  const { program } = start(t, "setInterval(() => {}, 1000)", { longestMs: 300 });
  assert.match((await program.ended).failure!, /^it did not end within 0.3 s/);
});

test("to be killed is no failure", async (t) => {
  const { program } = start(t, 'console.log("MARK start 1"); setInterval(() => {}, 1000)');
  await program.mark("start");
  assert.equal((await program.kill()).failure, undefined);
});

test("it ends with whoever started it, also by SIGKILL", async (t) => {
  const script = `
    const { Program } = await import(${JSON.stringify(fileURLToPath(new URL("program.ts", import.meta.url)))});
    const forever = 'console.log(process.pid); setInterval(() => {}, 1000)';
    new Program([process.execPath, "--eval", forever], ${JSON.stringify(folderOf(t))}, { longestMs: 60_000 }, console.log);`;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = await once(createInterface({ input: parent.stdout }), "line");
  parent.kill("SIGKILL");
  await until(`${pid} has ended`, async () => usageOf(Number(pid)) === undefined);
});
