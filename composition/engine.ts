import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { digest } from "../shared/epoch/digest.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { StateStore } from "../shared/state/state-store.ts";
import { connect } from "./connect.ts";
import type { Surroundings } from "./connector.ts";

/** What differs from one place where pipelines run to another. `codeDigest` is the code's alone. */
export type EngineParts = Pick<
  Engine,
  "topology" | "codeDigest" | "uid" | "ledger" | "objects" | "policy" | "executions"
>;

/** An engine, and the end of what it holds open. */
export interface ComposedEngine extends Engine {
  close(): Promise<void>;
}

/** The engine of a pipeline whose parameters are bound. One a thread. */
export async function composeEngine(
  parts: EngineParts,
  place: Pick<Surroundings, "kafkaAccess" | "stays"> = {},
): Promise<ComposedEngine> {
  const { topology, objects, policy } = parts;
  return {
    ...parts,
    ...(await connect(topology, { ...place, objects, bounded: policy.bounded })),
    // An attempt with two values of a parameter would be as bad as one with two versions of the code. Of secrets there is nothing in it.
    codeDigest: digest([parts.codeDigest, optionsOf(topology)]),
    fingerprint: JSON.stringify(fingerprint(topology)),
    state: new StateStore(objects),
    clock: systemClock,
    random: systemRandom,
  };
}

const optionsOf = ({ nodes, sinks }: Topology): object[] => [
  ...nodes.flatMap((node) => (node.kind === "source" ? [node.source.options] : [])),
  ...Object.values(sinks).map(({ options }) => options),
];
