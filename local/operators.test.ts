import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { files, pipeline, text } from "../shared/index.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import { statePaths } from "./compose.ts";
import { run } from "./run.ts";

/** The threads that are started from here on: whether there was a ledger when they were, and which are still there. */
function watchThreads(context: TestContext, state: string) {
  const foundLedger: boolean[] = [];
  const alive = new Set<Worker>();
  const onWorker = (message: unknown) => {
    const { worker } = message as { worker: Worker };
    foundLedger.push(existsSync(join(state, "ledger.db")));
    alive.add(worker);
    worker.once("exit", () => alive.delete(worker));
  };
  subscribe("worker_threads", onWorker);
  context.after(() => void unsubscribe("worker_threads", onWorker));
  return { foundLedger, alive };
}

/** A module, and the state of its runs. */
function place(folder: string, code: string) {
  writeFileSync(join(folder, "input"), "a\nb\n");
  writeFileSync(
    join(folder, "p.mjs"),
    `import { files, parameter, pipeline, text } from "epochflow";
    const [input, output] = ["input", "output"].map((name) => new URL(name, import.meta.url).pathname);
    ${code}`,
  );
  return { module: join(folder, "p.mjs"), state: join(folder, "state") };
}

const lines = `const lines = pipeline("lines").from(files.source({ path: input, value: text() }));
  lines.to(files.sink({ path: output }), { id: "out" });
  export default lines;`;

test("the threads that the first epoch needs start before the ledger is there", async (context) => {
  using folder = temporaryFolder();
  const { module, state } = place(folder.path, lines);
  const { foundLedger, alive } = watchThreads(context, state);
  const { outcome, progress } = await run(module, { state, parallelism: 3 });
  assert.deepEqual([outcome, progress.records, foundLedger, alive.size], ["done", 2, [false, false], 0]);
  assert.equal((await run(module, { state, parallelism: 1 })).outcome, "nothing-new");
  assert.deepEqual([foundLedger.length, alive.size], [3, 0]);
});

test("no thread outlives a run that cannot begin", async (context) => {
  using folder = temporaryFolder();
  const { module, state } = place(folder.path, lines);
  await run(module, { state, name: "other" });
  const { foundLedger, alive } = watchThreads(context, state);
  await assert.rejects(run(module, { state, parallelism: 2 }), { code: "foreign-state" });
  assert.deepEqual([foundLedger.length, alive.size], [2, 0]);
  writeFileSync(join(state, "ledger.db"), "damaged");
  await assert.rejects(run(module, { state, parallelism: 2 }), { code: "ledger-damaged" });
  assert.deepEqual([foundLedger.length, alive.size], [4, 0]);
});

test("what is refused beforehand starts no thread", async (context) => {
  using folder = temporaryFolder();
  const { module, state } = place(folder.path, lines.replace("path: input", 'path: parameter("path")'));
  const { foundLedger } = watchThreads(context, state);
  await assert.rejects(run(module, { state }), { message: /path/ });
  mkdirSync(state, { recursive: true });
  const lock = LeaseLock.tryAcquire(statePaths(state).lease);
  assert.equal((await run(module, { state, parameters: { path: "input" } })).outcome, "in-use");
  lock?.release();
  writeFileSync(join(folder.path, "broken.mjs"), 'throw new Error("broken");');
  await assert.rejects(run(join(folder.path, "broken.mjs"), { state }), { code: "pipeline-not-loaded" });
  assert.deepEqual(foundLedger, []);
});

test("a pipeline that is given as an object starts no thread", async (context) => {
  using folder = temporaryFolder();
  const { state } = place(folder.path, "");
  const { foundLedger } = watchThreads(context, state);
  const lines = pipeline("lines").from(files.source({ path: join(folder.path, "input"), value: text() }));
  lines.to(files.sink({ path: join(folder.path, "output") }), { id: "out" });
  const { outcome } = await run(lines, { state });
  assert.deepEqual([outcome, foundLedger], ["done", []]);
});
