import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { giveWorkersRoom } from "./worker-memory.ts";

/**
 * Makes 35 MB of buffers, of which some live at a time, and objects, most of which do not, so that V8 looks at the young generation alone now and then; and tells how
 * often all garbage was collected.
 */
const program = `
  const { parentPort } = require("node:worker_threads");
  const { constants, PerformanceObserver } = require("node:perf_hooks");
  let collections = 0;
  const count = (list) => {
    collections += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  };
  new PerformanceObserver(count).observe({ entryTypes: ["gc"] });
  const living = [];
  const step = (made) => {
    living.push({ buffer: new Uint8Array(1e6).fill(1), objects: Array.from({ length: 3e4 }, (_, i) => ({ i })).slice(0, 100) });
    if (living.length > 8) living.shift();
    if (made < 35) setImmediate(step, made + 1);
    else setTimeout(() => parentPort.postMessage(collections), 20);
  };
  step(0);`;

async function collectionsOfWorker(): Promise<number> {
  const worker = new Worker(program, { eval: true });
  const [collections] = await once(worker, "message");
  await worker.terminate();
  return collections;
}

test("buffers of a worker fill its room before all garbage is collected", async () => {
  assert.ok((await collectionsOfWorker()) > 0);
  giveWorkersRoom();
  assert.equal(await collectionsOfWorker(), 0);
});
