import { existsSync } from "node:fs";
import { openLedger, statePaths } from "../local/compose.ts";
import { displayPath } from "../local/paths.ts";
import { LeaseLock } from "../shared/adapters/sqlite/lease-lock.ts";
import { UsageError } from "../shared/errors.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Head, Ledger } from "../shared/ports/ledger.ts";
import { stateInUse } from "./exit-codes.ts";
import { findState, type StateOptions } from "./find-state.ts";

/** The state of a pipeline, opened to be looked at. */
export interface OpenState extends AsyncDisposable {
  readonly folder: string;
  /** Folder of the snapshots. */
  readonly objects: string;
  readonly ledger: Ledger;
  /** As it was when the state was opened. */
  readonly head: Head;
  /** Of the pipeline, where its module was given. */
  readonly topology: Topology | undefined;
  /** Whether a process works on it at this moment. */
  atWork(): boolean;
  /** Keeps every other process from working on it. @throws UsageError `state-in-use` */
  takeLease(): Disposable;
}

/** @throws UsageError those of `findState`; `no-state` for a ledger that was never used */
export async function openState(pipeline: string | undefined, options: StateOptions): Promise<OpenState> {
  const { folder, topology } = await findState(pipeline, options);
  const ledger = await openLedger(folder);
  const head = await ledger.head();
  if (head === undefined) {
    await ledger.close();
    throw new UsageError("no-state", `Nothing was ever run on the state in ${displayPath(folder)}`);
  }
  return {
    folder,
    objects: statePaths(folder).objects,
    ledger,
    head,
    topology,
    atWork: () => isAtWork(statePaths(folder).lease),
    takeLease: () => takeLease(folder),
    [Symbol.asyncDispose]: () => ledger.close(),
  };
}

/** Takes the lock for a moment: nobody else can have had it then. */
function isAtWork(leaseFile: string): boolean {
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
