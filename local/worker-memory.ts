import { setFlagsFromString } from "node:v8";

/** Megabytes that a worker's objects and buffers take together before V8 collects all garbage; more, where what lives takes more. */
const untilCollectedMb = 64;
/** Megabytes of half a worker's young generation, at most. With V8's own 16 strings are made no faster, and a tenth more memory is resident. */
const youngMb = 8;

/**
 * For the worker threads that are started from here on.
 *
 * V8 lets a heap grow by a share of what lives in it. A worker has 10 to 20 MB of objects, and reads, aggregates and writes in buffers, which lie elsewhere but count: so V8
 * collected all garbage, with a walk over all objects, whenever 13 MB of buffers were new, which took a fifth of the processor time of a busy run. With this limit it begins, and it does not
 * fall below. What it costs is memory for garbage, up to the limit, in each worker; a worker with a large state is collected as ever.
 *
 * V8 has these as flags of the process alone. They are read when a thread is started, so that other threads of a program that are there already go on as they were.
 */
export function giveWorkersRoom(): void {
  setFlagsFromString(`--initial-old-space-size=${untilCollectedMb}`);
  setFlagsFromString(`--max-semi-space-size=${youngMb}`);
}
