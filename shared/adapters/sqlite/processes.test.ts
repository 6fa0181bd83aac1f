import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { folderOf } from "../../../test/support/folder.ts";
import { SeededRandom } from "../memory/random.ts";
import { SqliteLedger } from "./ledger.ts";

const program = new URL("../../../test/support/ledger-process.ts", import.meta.url).pathname;

interface Run {
  readonly child: ChildProcess;
  said: string;
  readonly end: Promise<unknown>;
}

function start(context: TestContext, file: string, seed: number, epochs: number): Run {
  const child = spawn(process.execPath, [program, file, String(seed), String(epochs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const run: Run = { child, said: "", end: once(child, "close") };
  child.stdout!.on("data", (data) => {
    run.said += String(data);
  });
  return run;
}

/** What all processes know to have done is in the ledger, once. */
async function verify(file: string, runs: readonly Run[], epochs: number, killed: number): Promise<void> {
  const said = runs.map((one) => one.said).join("");
  const increments = said.match(/i/g)?.length ?? 0;
  const decidedByOne = [...said.matchAll(/d(\d+) /g)].map((one) => Number(one[1])).sort((a, b) => a - b);
  const ledger = new SqliteLedger(file);
  const { sequence } = await ledger.wake();
  assert(
    sequence >= increments && sequence <= increments + killed,
    `${sequence} increments, ${increments} known, ${killed} killed`,
  );
  assert.equal(new Set(decidedByOne).size, decidedByOne.length, "I2: an epoch was decided twice");
  assert(decidedByOne.length >= epochs - killed);
  const head = await ledger.head();
  assert.deepEqual([head?.decided, head?.committed], [epochs, epochs]);
  const rows = await ledger.epochs({ from: 1, to: epochs });
  assert.deepEqual(
    rows.map((one) => one.plan.partitions[0]?.from),
    Array.from({ length: epochs }, (_, index) => 10 * index),
    "I1",
  );
  assert(
    rows.every((one) => one.status === "decided" && one.committedAt !== null),
    "I4",
  );
  await ledger.close();
  const database = new DatabaseSync(file, { readOnly: true });
  assert.deepEqual({ ...database.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
  database.close();
}

test("SqliteLedger: several processes on one file that none has made before", async (context) => {
  const file = join(folderOf(context), "ledger.db");
  const epochs = 60;
  const runs = [1, 2, 3, 4].map((seed) => start(context, file, seed, epochs));
  for (const { child, end } of runs) assert.deepEqual([await end, child.exitCode].at(1), 0);
  await verify(file, runs, epochs, 0);
});

test("SqliteLedger: whoever comes while another makes the file finds a ledger", async (context) => {
  const folder = folderOf(context);
  const rounds = 300;
  const openers = 4;
  const arrived = new Int32Array(new SharedArrayBuffer(4 * rounds));
  const workerData = { folder, arrived, openers };
  const opener = new URL("../../../test/support/ledger-opener.ts", import.meta.url);
  const workers = Array.from({ length: openers }, () => new Worker(opener, { workerData }));
  context.after(() => Promise.all(workers.map((worker) => worker.terminate())));
  // A worker's error is an "error" event, which `once` throws.
  await Promise.all(workers.map((worker) => once(worker, "exit")));
});

test("SqliteLedger: processes that are killed at any moment lose nothing that they know to be done", async (context) => {
  const file = join(folderOf(context), "ledger.db");
  const random = new SeededRandom(7);
  const epochs = 80;
  const all: Run[] = [];
  let killed = 0;
  const live = async () => {
    for (;;) {
      const run = start(context, file, all.length, epochs);
      all.push(run);
      // After some progress, however fast the machine is, and then in the middle of anything.
      const enough = 1 + random.below(60);
      run.child.stdout!.on("data", () => run.said.length >= enough && run.child.kill("SIGKILL"));
      await run.end;
      if (run.child.signalCode !== "SIGKILL") return assert.equal(run.child.exitCode, 0);
      killed++;
    }
  };
  await Promise.all([live(), live()]);
  context.diagnostic(`${killed} processes were killed`);
  await verify(file, all, epochs, killed);
});
