import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";

/** Megabytes that a worker's objects and buffers take together before V8 collects all garbage; more, where what lives takes more. */
const untilCollectedMb = 64;
/** Megabytes of half a worker's young generation, at most. With V8's own 16 strings are made no faster, and a tenth more memory is resident. */
const youngMb = 8;

/** Between two looks at whether a heap is about to be made. */
const lookEveryMs = 1;
/** After that: the heap is there by then, and V8, which deserializes a thread's first objects for longer, has not looked for cached code yet. */
const untilMadeMs = 3;

/** Workers whose heaps are not there yet, and the moment when all are. */
let heapless = 0;
let allMade = Promise.withResolvers<void>();

/**
 * Starts a worker thread whose heap has room.
 *
 * V8 lets a heap grow by a share of what lives in it. A worker has 10 to 20 MB of objects, and reads, aggregates and writes in buffers, which lie elsewhere but count: so V8
 * collected all garbage, with a walk over all objects, whenever 13 MB of buffers were new, which took a fifth of the processor time of a busy run. With this limit it begins, and it does not
 * fall below. What it costs is memory for garbage, up to the limit, in each worker; a worker with a large state is collected as ever.
 *
 * V8 has both as flags of the process alone, which it reads when it makes a thread's heap. That of the limit is also a part of what compiled code is valid for: while it is set, no
 * thread takes Node's own modules, or any other, from a cache, and each start takes twice as long. So it goes as soon as the heap is there.
 */
export function startWithRoom(start: () => Worker): Worker {
  setFlagsFromString(`--max-semi-space-size=${youngMb}`);
  setFlagsFromString(`--initial-old-space-size=${untilCollectedMb}`);
  const worker = start();
  if (heapless === 0) allMade = Promise.withResolvers();
  heapless++;
  const looking = setInterval(() => {
    if (!makesHeap(worker)) return;
    clearInterval(looking);
    setTimeout(() => {
      heapless--;
      if (heapless > 0) return;
      setFlagsFromString("--initial-old-space-size=0");
      allMade.resolve();
    }, untilMadeMs);
  }, lookEveryMs);
  return worker;
}

/** Resolves when no thread is without its heap: what loads many modules waits for it. */
export async function heapsMade(): Promise<void> {
  if (heapless > 0) await allMade.promise;
}

/** A thread writes down the limits of its heap before it makes it: until then those that were not given are negative. One that has ended has none. */
function makesHeap({ resourceLimits = {} }: Worker): boolean {
  return !(Number(resourceLimits.maxOldGenerationSizeMb) < 0);
}
