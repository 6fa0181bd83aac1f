import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { connectLocally, openLedger, statePaths } from "../local/compose.ts";
import { displayPath } from "../local/paths.ts";
import { unlessMissing } from "../shared/adapters/filesystem/durable.ts";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { abandonSink } from "../shared/epoch/abandon.ts";
import { UsageError } from "../shared/errors.ts";
import { bind } from "../shared/pipeline/bind.ts";
import type { Fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Head, Ledger } from "../shared/ports/ledger.ts";
import { stateInUse } from "./exit-codes.ts";
import { findState, type StateOptions } from "./find-state.ts";
import type { Abandoned, AbandonRequest, OpenPipeline } from "./open-pipeline.ts";

/** A pipeline whose state is in a folder of this machine. */
export interface OpenState extends OpenPipeline {
  readonly folder: string;
  /** Of the pipeline, where its module was given. */
  readonly topology: Topology | undefined;
}

/** @throws UsageError those of `findState`; `no-state` for a ledger that was never used */
export async function openState(pipeline: string | undefined, options: StateOptions): Promise<OpenState> {
  const { folder, topology } = await findState(pipeline, options);
  const ledger = openLedger(folder);
  const head = await ledger.head();
  if (head === undefined) {
    await ledger.close();
    throw new UsageError("no-state", `Nothing was ever run on the state in ${displayPath(folder)}`);
  }
  const { objects, lease } = statePaths(folder);
  return {
    worker: "process",
    places: { state: folder },
    flags: "",
    folder,
    ledger,
    head,
    topology,
    atWork: async () => isAtWork(lease),
    takeLease: () => takeLease(folder),
    sizeOf: async (object) => (await unlessMissing(stat(join(objects, object))))?.size,
    wake: async () => {
      // A process that is just going idle for a pause sees it, and goes on (I7). Without one, the next `run` does.
      await ledger.increment(null);
      return isAtWork(lease) ? "A process is at work." : "`epochflow run` goes on with it.";
    },
    abandon: (what) => abandon({ folder, ledger, head, topology }, what),
    [Symbol.asyncDispose]: () => ledger.close(),
  };
}

/** Takes the lock for a moment: nobody else can have had it then. */
export function isAtWork(leaseFile: string): boolean {
  if (!existsSync(leaseFile)) return false;
  const lock = LeaseLock.tryAcquire(leaseFile);
  lock?.release();
  return lock === undefined;
}

function takeLease(folder: string): Disposable {
  const lock = LeaseLock.tryAcquire(statePaths(folder).lease);
  if (lock === undefined) throw stateInUse(folder);
  return { [Symbol.dispose]: () => lock.release() };
}

type Parts = Pick<OpenState, "folder" | "topology"> & { readonly ledger: Ledger; readonly head: Head };

async function abandon({ folder, ledger, head, topology }: Parts, what: AbandonRequest): Promise<Abandoned> {
  const { sink, epoch, set, unasked } = what;
  const owner = { ledger, pipeline: head.pipeline, uid: head.uid };
  if (unasked || kindOf(sink, head) === "files") return await abandonSink({ ...owner, target: {} }, epoch, sink);
  if (topology === undefined)
    throw new UsageError("module-needed", `Sink ${sink} may have the output after all, and must be asked`, {
      wayOut:
        "Name the pipeline's module, with --set for its parameters. If the sink's service is gone for good: --unasked.",
    });
  const connectors = await connectLocally(bind(topology, set ?? {}), folder);
  try {
    return await abandonSink({ ...owner, target: connectors.sink(sink) }, epoch, sink);
  } finally {
    await connectors.close();
  }
}

/** Of the topology that the state belongs to; undefined for a dead-letter sink, which is no part of it. */
function kindOf(sink: string, { fingerprint }: Head): string | undefined {
  return (JSON.parse(fingerprint) as Fingerprint).sinks[sink];
}
