import { join } from "node:path";
import { FileSystemObjectStore } from "../shared/adapters/filesystem/object-store.ts";
import { SqliteLedger } from "../shared/adapters/sqlite/ledger.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { digest } from "../shared/epoch/digest.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import type { Policy } from "../shared/epoch/policy.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Executions } from "../shared/ports/executions.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import { StateStore } from "../shared/state/state-store.ts";
import { connect } from "./connectors.ts";

/** Where a pipeline's state lies on this machine. */
export const statePaths = (state: string) => ({
  ledger: join(state, "ledger.db"),
  lease: join(state, "lease.db"),
  objects: join(state, "objects"),
});

export const openLedger = (state: string): Ledger => new SqliteLedger(statePaths(state).ledger);

/** What a process that was killed has left half written. For the owner of the lease, before it writes anything. */
export async function removePartialObjects(state: string): Promise<void> {
  await new FileSystemObjectStore(statePaths(state).objects).sweep();
}

/** An engine, and the end of what it holds open. */
export interface ComposedEngine extends Engine {
  close(): Promise<void>;
}

/** The engine on the embedded default: SQLite ledger, objects in a folder. One a thread. */
export async function composeEngine(parts: {
  topology: Topology;
  codeDigest: string;
  state: string;
  uid: string;
  ledger: Ledger;
  policy: Policy;
  executions: Executions;
}): Promise<ComposedEngine> {
  const { topology, state, policy } = parts;
  const objects = new FileSystemObjectStore(statePaths(state).objects);
  return {
    ...parts,
    ...(await connect(topology, { objects, bounded: policy.bounded })),
    // An attempt with two values of a parameter would be as bad as one with two versions of the code. Of secrets there is nothing in it.
    codeDigest: digest([parts.codeDigest, optionsOf(topology)]),
    fingerprint: JSON.stringify(fingerprint(topology)),
    objects,
    state: new StateStore(objects),
    clock: systemClock,
    random: systemRandom,
  };
}

const optionsOf = ({ nodes, sinks }: Topology): object[] => [
  ...nodes.flatMap((node) => (node.kind === "source" ? [node.source.options] : [])),
  ...Object.values(sinks).map(({ options }) => options),
];
