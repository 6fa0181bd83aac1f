import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { files, pipeline, text } from "../shared/index.ts";
import { temporaryFolder } from "../test/support/folder.ts";
import { run } from "./run.ts";

/** The threads that are started from here on: what they saw of the module `p.mjs` when they were, and which are still there. */
function watchThreads(context: TestContext, folder: string) {
  const loads = () => readFileSync(join(folder, "loads"), "utf8").length;
  const seen: number[] = [];
  const alive = new Set<Worker>();
  const onWorker = (message: unknown) => {
    const { worker } = message as { worker: Worker };
    seen.push(loads());
    alive.add(worker);
    worker.once("exit", () => alive.delete(worker));
  };
  subscribe("worker_threads", onWorker);
  context.after(() => void unsubscribe("worker_threads", onWorker));
  return { seen, alive, loads };
}

/** A module that notes each time that it is loaded, and the state of its runs. */
function place(folder: string, code: string) {
  writeFileSync(join(folder, "loads"), "");
  writeFileSync(join(folder, "input"), "a\nb\n");
  writeFileSync(
    join(folder, "p.mjs"),
    `import { appendFileSync } from "node:fs";
    import { files, pipeline, text } from "epochflow";
    appendFileSync(new URL("loads", import.meta.url), "x");
    const [input, output] = ["input", "output"].map((name) => new URL(name, import.meta.url).pathname);
    ${code}`,
  );
  return { module: join(folder, "p.mjs"), state: join(folder, "state") };
}

const lines = `const lines = pipeline("lines").from(files.source({ path: input, value: text() }));
  lines.to(files.sink({ path: output }), { id: "out" });
  export default lines;`;

test("the threads of the first epoch start before the module is loaded, and load it when it is known to be good", async (context) => {
  using folder = temporaryFolder();
  const { module, state } = place(folder.path, lines);
  const { seen, alive, loads } = watchThreads(context, folder.path);
  const { outcome, progress } = await run(module, { state, parallelism: 3 });
  assert.deepEqual([outcome, progress.records, seen, alive.size], ["done", 2, [0, 0], 0]);
  assert.ok(loads() > 1);
  await run(module, { state, parallelism: 1 });
  assert.equal(seen.length, 3);
});

test("a module that is broken is loaded once, and no thread outlives the run", async (context) => {
  using folder = temporaryFolder();
  const { module, state } = place(folder.path, 'throw new Error("broken");');
  const { seen, alive, loads } = watchThreads(context, folder.path);
  await assert.rejects(run(module, { state, parallelism: 2 }), { code: "pipeline-not-loaded", message: /broken/ });
  assert.deepEqual([seen, alive.size, loads()], [[0, 0], 0, 1]);
});

test("a pipeline that is given as an object starts no thread", async (context) => {
  using folder = temporaryFolder();
  const { state } = place(folder.path, "");
  const { seen } = watchThreads(context, folder.path);
  const lines = pipeline("lines").from(files.source({ path: join(folder.path, "input"), value: text() }));
  lines.to(files.sink({ path: join(folder.path, "output") }), { id: "out" });
  const { outcome } = await run(lines, { state });
  assert.deepEqual([outcome, seen], ["done", []]);
});
