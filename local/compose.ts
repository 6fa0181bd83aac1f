import { join } from "node:path";
import { type Connectors, connect } from "../composition/connect.ts";
import { type ComposedEngine, composeEngine, type EngineParts } from "../composition/engine.ts";
import { FileSystemObjectStore } from "../shared/adapters/filesystem/object-store.ts";
import { MemoryShuffle } from "../shared/adapters/memory/shuffle.ts";
import { SqliteLedger } from "../shared/adapters/sqlite/ledger.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Ledger } from "../shared/ports/ledger.ts";

/** Where a pipeline's state lies on this machine. */
export const statePaths = (state: string) => ({
  ledger: join(state, "ledger.db"),
  lease: join(state, "lease.db"),
  objects: join(state, "objects"),
});

/** What a pipeline reads and writes, to be looked at: its ends are where they are now. */
export const connectLocally = (topology: Topology, state: string): Promise<Connectors> =>
  connect(topology, { objects: new FileSystemObjectStore(statePaths(state).objects), bounded: true });

export const openLedger = (state: string): Ledger => new SqliteLedger(statePaths(state).ledger);

/** To look at, also while a run works on it. The ledger must be there. */
export const openLedgerToRead = (state: string): Ledger =>
  new SqliteLedger(statePaths(state).ledger, { readOnly: true });

/** What a process that was killed has left half written. For the owner of the lease, before it writes anything. */
export async function removePartialObjects(state: string): Promise<void> {
  await new FileSystemObjectStore(statePaths(state).objects).sweep();
}

export interface LocalEngine extends ComposedEngine {
  readonly shuffle: MemoryShuffle;
}

/** The engine on the embedded default: SQLite ledger, objects in a folder, a shuffle that does not leave the process. One a thread. */
export async function composeLocalEngine(
  parts: Omit<EngineParts, "objects"> & { readonly state: string },
): Promise<LocalEngine> {
  const { state, ...others } = parts;
  const objects = new FileSystemObjectStore(statePaths(state).objects);
  const engine = await composeEngine({ ...others, objects }, { stays: true });
  return { ...engine, shuffle: new MemoryShuffle(parts.topology.keyGroups) };
}
