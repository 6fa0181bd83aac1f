/** A worker thread that has loaded nothing yet, loads a module with all hooks in place, and tells its digest: for `codeDigest`. */
import { parentPort, workerData } from "node:worker_threads";
import { loadedDigest } from "./code-digest.ts";
import "./self-reference.ts";
import "./typescript-modules.ts";

await import(workerData.url);
parentPort!.postMessage(loadedDigest(workerData.url));
