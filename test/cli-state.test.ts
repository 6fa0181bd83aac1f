/** The commands that look at a pipeline's state and change it, on ledgers made by hand. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLedger, statePaths } from "../local/compose.ts";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { LossError } from "../shared/errors.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import { begin, committed, decided, failureOf, planned, unitOf } from "../shared/testing/ledger/examples.ts";
import { cliIn } from "./support/cli.ts";
import { folderOf } from "./support/folder.ts";

/** A working directory with the state of a pipeline "example". */
async function exampleState(context: TestContext, make: (ledger: Ledger) => Promise<unknown>) {
  const cwd = folderOf(context);
  const state = join(cwd, ".epochflow/example");
  mkdirSync(state, { recursive: true });
  const ledger = await openLedger(state);
  context.after(() => ledger.close());
  await begin(ledger);
  await make(ledger);
  return { cwd, state, ledger, run: (...args: string[]) => cliIn(cwd, ...args) };
}

const twoUncommitted = async (ledger: Ledger) => {
  await committed(ledger, 1);
  await decided(ledger, 2, { units: [unitOf("0"), unitOf("1"), unitOf("0", "late")] });
  await planned(ledger, 3);
};

test("status shows what waits for its commit, and what is planned", async (context) => {
  const { run } = await exampleState(context, twoUncommitted);
  const { code, stdout, stderr } = await run("status");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^pipeline +example$/m);
  assert.match(stdout, /^process +none at work: run 1 has ended with the lease/m);
  assert.match(stdout, /^epochs +2 decided, 1 committed$/m);
  assert.match(stdout, /^uncommitted +since epoch 2, .* sinks: late, out$/m);
  assert.match(stdout, /^last epoch +2, .*: 10 records, 100 B$/m);
  assert.match(stdout, /^positions +p 20$/m);
  assert.match(stdout, /^checkpoint +incomplete: a snapshot object is missing$/m);
  assert.match(stdout, /^next +3, planned, attempt 1, .*: 10 B$/m);
});

test("status shows why a pipeline is stopped, and the way out", async (context) => {
  const error = new LossError("file-shrank", "p is shorter than it was", { wayOut: "Bring it back." }).describe();
  const { run } = await exampleState(context, (ledger) => ledger.stop(error, { owner: 1 }));
  const { stdout } = await run("status");
  assert.match(stdout, /^status +stopped\n +error: p is shorter than it was\n +way out: Bring it back\.\n.*resume/m);
});

test("status shows how attempts have failed", async (context) => {
  const { run } = await exampleState(context, async (ledger) => ledger.fence(await planned(ledger, 1), failureOf()));
  assert.match((await run("status")).stdout, /^next +1, fenced, .*\n +1 failed attempt\n +error: it broke/m);
});

test("status tells whether a process is at work, and does not disturb it", async (context) => {
  const { run, state } = await exampleState(context, async () => {});
  const lock = LeaseLock.tryAcquire(statePaths(state).lease);
  assert.match((await run("status")).stdout, /^process +at work/m);
  assert.equal(JSON.parse((await run("status", "--json")).stdout).atWork, true);
  lock?.release();
  assert.match((await run("status")).stdout, /^process +none at work/m);
});

test("epochs shows the last ones, whatever became of them", async (context) => {
  const { run } = await exampleState(context, twoUncommitted);
  const { stdout } = await run("epochs");
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/).map((cell) => cell.trim()));
  assert.deepEqual(rows.map(([epoch]) => epoch || "").length, 4);
  assert.match(stdout, /^ +1 {2}committed +1 +fused +10 +0 .* p 0-10$/m);
  assert.match(stdout, /^ +2 {2}decided .* p 10-20$/m);
  assert.match(stdout, /^ +3 {2}planned .* p 20-30$/m);
  assert.equal((await run("epochs", "--last", "1")).stdout.trimEnd().split("\n").length, 2);
});

test("pause and resume", async (context) => {
  const { run, ledger } = await exampleState(context, (ledger) => committed(ledger, 1));
  const status = async () => (await ledger.head())?.status;
  const { sequence } = await ledger.wake();
  assert.match((await run("pause")).stderr, /example is paused\./);
  assert.equal(await status(), "paused");
  assert.match((await run("pause")).stderr, /was paused before/);
  assert.match((await run("status")).stdout, /^status +paused/m);
  assert.equal((await run("resume")).code, 0);
  assert.equal(await status(), "running");
  assert.ok((await ledger.wake()).sequence > sequence, "it wakes");
});

test("pause leaves the error of a stopped pipeline alone; resume lets it go on", async (context) => {
  const error = new LossError("x", "gone").describe();
  const { run, ledger } = await exampleState(context, (ledger) => ledger.stop(error, { owner: 1 }));
  assert.equal((await run("pause")).code, 1);
  assert.deepEqual((await ledger.head())?.error, error);
  assert.equal((await run("resume")).code, 0);
  assert.equal((await ledger.head())?.status, "running");
});

test("abandon gives up one sink's units, and no others", async (context) => {
  const { run, ledger } = await exampleState(context, twoUncommitted);
  const { code, stderr } = await run("abandon", "--sink", "out", "--epoch", "2", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Abandoned 2 parts of sink out in epoch 2/);
  const statuses = (await ledger.units(2)).map(({ sink, status }) => `${sink} ${status}`);
  assert.deepEqual(statuses, ["out abandoned", "out abandoned", "late prepared"]);
  const again = await run("abandon", "--sink", "out", "--epoch", "2", "--yes");
  assert.equal(again.code, 2);
  assert.match(again.stderr, /out has given up its output in epoch 2 already\n {2}way out: `epochflow resume`/);
});

test("abandon names what there is to abandon", async (context) => {
  const { run } = await exampleState(context, twoUncommitted);
  const wrongSink = await run("abandon", "--sink", "lat", "--epoch", "2", "--yes");
  assert.equal(wrongSink.code, 2);
  assert.match(wrongSink.stderr, /Did you mean "late"\?.*Sinks that have: out, late/s);
  const wrongEpoch = await run("abandon", "--sink", "out", "--epoch", "1", "--yes");
  assert.equal(wrongEpoch.code, 2);
  assert.match(wrongEpoch.stderr, /in epoch 1 that waits/);
});

test("reset begins anew with one more epoch, also what is stopped", async (context) => {
  const { run, ledger } = await exampleState(context, async (ledger) => {
    await committed(ledger, 1);
    await ledger.stop(new LossError("x", "gone").describe(), { owner: 1 });
  });
  assert.equal((await run("reset", "--yes")).code, 0);
  const row = await ledger.epoch(2);
  assert.ok(row?.status === "decided" && row.decision.kind === "restore");
  assert.deepEqual(row.decision.partitions, []);
  assert.match((await run("epochs")).stdout, /^ +2 {2}restored/m);
  assert.equal((await ledger.head())?.status, "running");
});

test("reset waits for the commit of what is decided", async (context) => {
  const { run, ledger } = await exampleState(context, twoUncommitted);
  const { code, stderr } = await run("reset", "--yes");
  assert.equal(code, 2);
  assert.match(stderr, /Epoch 2 is decided and not committed yet.*epochflow abandon/s);
  assert.equal((await ledger.head())?.decided, 2);
});

const dangerous: [args: string[], make: (ledger: Ledger) => Promise<unknown>][] = [
  [["reset"], (ledger) => committed(ledger, 1)],
  [["abandon", "--sink", "out", "--epoch", "1"], (ledger) => decided(ledger, 1)],
];
for (const [args, make] of dangerous) {
  test(`${args[0]} asks first, and changes nothing where nobody can answer`, async (context) => {
    const { run, ledger } = await exampleState(context, make);
    const { code, stderr } = await run(...args);
    assert.equal(code, 2);
    assert.match(stderr, /--yes/);
    assert.equal((await ledger.head())?.decided, 1);
    assert.ok((await ledger.units(1)).every((unit) => unit.status !== "abandoned"));
  });

  test(`${args[0]} leaves a state alone on which a process works`, async (context) => {
    const { run, ledger, state } = await exampleState(context, make);
    const lock = LeaseLock.tryAcquire(statePaths(state).lease);
    context.after(() => lock?.release());
    const { code, stderr } = await run(...args, "--yes");
    assert.equal(code, 3, stderr);
    assert.match(stderr, /Another process works on the state/);
    assert.equal((await ledger.head())?.decided, 1);
    assert.ok((await ledger.units(1)).every((unit) => unit.status !== "abandoned"));
  });
}
