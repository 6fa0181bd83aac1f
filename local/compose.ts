import { join } from "node:path";
import { FileSystemObjectStore } from "../shared/adapters/filesystem/object-store.ts";
import { createFilesSink } from "../shared/adapters/filesystem/sink.ts";
import { createFilesSource } from "../shared/adapters/filesystem/source.ts";
import { SqliteLedger } from "../shared/adapters/sqlite/ledger.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { digest } from "../shared/epoch/digest.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import type { Policy } from "../shared/epoch/policy.ts";
import { UsageError } from "../shared/errors.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Executions } from "../shared/ports/executions.ts";
import type { Ledger } from "../shared/ports/ledger.ts";
import type { TwoPhaseCommitSink } from "../shared/ports/sink.ts";
import type { Source } from "../shared/ports/source.ts";
import { StateStore } from "../shared/state/state-store.ts";

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

/** The engine on the embedded default: SQLite ledger, objects in a folder. One a thread. */
export function composeEngine(parts: {
  topology: Topology;
  codeDigest: string;
  parameters: Readonly<Record<string, string>>;
  state: string;
  uid: string;
  ledger: Ledger;
  policy: Policy;
  executions: Executions;
}): Engine {
  const { topology, state } = parts;
  const objects = new FileSystemObjectStore(statePaths(state).objects);
  const sinks = new Map<string, TwoPhaseCommitSink>();
  return {
    ...parts,
    // An attempt with two values of a parameter would be as bad as one with two versions of the code.
    codeDigest: digest([parts.codeDigest, parts.parameters]),
    fingerprint: JSON.stringify(fingerprint(topology)),
    objects,
    source: sourceOf(topology, parts.policy),
    sink: (id) => {
      const sink = sinks.get(id) ?? sinkOf(topology, id);
      sinks.set(id, sink);
      return sink;
    },
    state: new StateStore(objects),
    clock: systemClock,
    random: systemRandom,
  };
}

function sourceOf(topology: Topology, policy: Policy): Source {
  const node = topology.nodes[0];
  if (node?.kind !== "source" || node.source.kind !== "files") throw unknownKind(topology, node?.id ?? "source");
  return createFilesSource({ ...(node.source.options as { path: string }), bounded: policy.bounded });
}

function sinkOf(topology: Topology, id: string): TwoPhaseCommitSink {
  const sink = topology.sinks[id];
  if (sink === undefined)
    throw new UsageError(
      "sink-gone",
      `pipeline ${topology.name} has no sink ${id} any more, but output of it to commit`,
      {
        wayOut: "bring the sink back until that is committed, or give its output up with `epochflow abandon`",
      },
    );
  if (sink.kind !== "files") throw unknownKind(topology, id);
  return createFilesSink(sink.options as { path: string });
}

function unknownKind(topology: Topology, id: string): UsageError {
  return new UsageError("unknown-connector", `pipeline ${topology.name}: ${id} is of a kind that does not run here`, {
    wayOut: "use files.source and files.sink",
  });
}
