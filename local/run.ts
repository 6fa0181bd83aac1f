import { join, resolve } from "node:path";
import { makeFolder } from "../shared/adapters/filesystem/durable.ts";
import { fileSystemError } from "../shared/adapters/filesystem/errors.ts";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { EpochflowError } from "../shared/errors.ts";
import { bind } from "../shared/pipeline/bind.ts";
import { describe } from "../shared/pipeline/describe.ts";
import type { Definition } from "../shared/pipeline/graph.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { checkRunOptions } from "./check-options.ts";
import { codeDigestOfEngine } from "./code-digest.ts";
import { statePaths } from "./compose.ts";
import { checkFolders } from "./folders.ts";
import { loadPipeline } from "./load.ts";
import { noProgress, type RunOptions, type RunResult } from "./options.ts";
import { rememberParameters } from "./remembered-parameters.ts";
import { type Internals, type Loaded, runSession } from "./session.ts";
import type { Watcher } from "./watch/events.ts";
import { startWatching } from "./watch/watching.ts";

export type { Message, Progress, RunOptions, RunResult } from "./options.ts";

/**
 * Runs a pipeline on this machine until its input is processed. Given a module (a path or URL whose default export is the pipeline), operator tasks run
 * in worker threads; given the pipeline itself, in this thread. Throws `UsageError` for what is wrong before anything begins.
 */
export async function run(pipeline: string | URL | Definition, options: RunOptions = {}): Promise<RunResult> {
  return await runWith(pipeline, options, {});
}

/** `run` with its inner parts laid open, for tests. */
export async function runWith(
  pipeline: string | URL | Definition,
  options: RunOptions,
  internals: Internals,
): Promise<RunResult> {
  checkRunOptions(options);
  const loaded =
    typeof pipeline === "string" || pipeline instanceof URL
      ? await loadPipeline(pipeline)
      : { topology: describe(pipeline), codeDigest: codeDigestOfEngine(), url: undefined };
  const topology = bind(loaded.topology, options.parameters ?? {}, options.name);
  const state = resolve(options.state ?? join(".epochflow", topology.name));
  checkFolders(topology, state);
  await makeFolder(state).catch((error) => {
    throw fileSystemError(error, "make the state", state);
  });
  const { watch, stop } = await startWatching(options, topology, state);
  try {
    const result = await runAlone({ ...loaded, topology, state, watch }, loaded.topology, options, internals);
    watch?.({ type: "run-ended", result });
    return result;
  } finally {
    await stop();
  }
}

async function runAlone(
  loaded: Loaded,
  unbound: Topology,
  options: RunOptions,
  internals: Internals,
): Promise<RunResult> {
  const { topology, state, watch } = loaded;
  const lock = await acquire(state, options, watch);
  if (!lock) return notRun(topology, state, options.signal?.aborted ? "interrupted" : "in-use");
  try {
    const { message, forget } = await rememberParameters(unbound, options.parameters ?? {}, state);
    if (message) {
      options.onMessage?.(message);
      watch?.({ type: "parameters-changed", text: message.text });
    }
    const result = await runSession(loaded, options, internals);
    // Such as an input that is not there: the next run, with the right one, has nothing to be warned of.
    if (result.error?.kind === "usage" && result.progress.epochs === 0) await forget();
    return result;
  } finally {
    lock.release();
  }
}

/**
 * The lock is the proof that this process alone owns the lease; the system frees it when its holder dies. Commands such as `status` try it too, for
 * an instant: so one refusal is not yet an answer.
 */
async function acquire(
  state: string,
  { wait, signal, onMessage }: RunOptions,
  watch: Watcher | undefined,
): Promise<LeaseLock | undefined> {
  const path = statePaths(state).lease;
  for (let refusals = 0; !signal?.aborted; refusals++) {
    const lock = LeaseLock.tryAcquire(path);
    if (lock || (refusals === 2 && !wait)) return lock;
    if (refusals === 2) {
      onMessage?.({ level: "info", text: "another process works on this state: waiting for it to end" });
      watch?.({ type: "waiting-for-state", state });
    }
    await systemClock.sleep(refusals < 2 ? 25 : 100);
  }
  return undefined;
}

function notRun(topology: Topology, state: string, outcome: "in-use" | "interrupted"): RunResult {
  const error = new EpochflowError("usage", "state-in-use", `another process works on ${state}`, {
    wayOut: "wait for it to end (--wait does), or give this run a state folder of its own with --state",
    place: { pipeline: topology.name },
  });
  return {
    outcome,
    ...(outcome === "in-use" && { error: error.describe() }),
    progress: noProgress,
    late: 0,
    skipped: 0,
    deadLettered: 0,
    closedUntil: null,
    state,
    outputs: {},
    topics: {},
  };
}
