import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { cachedDataVersionTag } from "node:v8";
import { Worker } from "node:worker_threads";
import { heapsMade, startWithRoom } from "./worker-memory.ts";

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

const startPlain = () => new Worker(program, { eval: true });

async function collectionsOf(worker: Worker): Promise<number> {
  const [collections] = await once(worker, "message");
  await worker.terminate();
  return collections;
}

test("buffers of a worker fill its room before all garbage is collected", async () => {
  assert.ok((await collectionsOf(startPlain())) > 0);
  // A thread that waits long for a processor may miss the limit: it does its work all the same.
  let tries = 0;
  let collections: number[];
  do {
    collections = await Promise.all([startWithRoom(startPlain), startWithRoom(startPlain)].map(collectionsOf));
  } while (collections.some((count) => count > 0) && ++tries < 20);
  assert.deepEqual(collections, [0, 0]);
});

test("compiled code that was kept is valid again once the heap of a thread is there, or the thread is gone", {
  timeout: 30_000,
}, async () => {
  const tag = cachedDataVersionTag();
  for (const end of [false, true]) {
    const worker = startWithRoom(() => new Worker("setInterval(() => {}, 1000)", { eval: true }));
    try {
      assert.notEqual(cachedDataVersionTag(), tag);
      if (end) await worker.terminate();
      await heapsMade();
      assert.equal(cachedDataVersionTag(), tag);
    } finally {
      await worker.terminate();
    }
  }
});
