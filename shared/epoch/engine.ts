import type { SourceDescription, Topology } from "../pipeline/topology.ts";
import type { Clock } from "../ports/clock.ts";
import type { Executions } from "../ports/executions.ts";
import type { Ledger } from "../ports/ledger.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Random } from "../ports/random.ts";
import type { Shuffle } from "../ports/shuffle.ts";
import type { TwoPhaseCommitSink } from "../ports/sink.ts";
import type { Source } from "../ports/source.ts";
import type { StateStore } from "../state/state-store.ts";
import type { Policy } from "./policy.ts";

/** What the protocol works on. A composition root makes it: one a process, or a worker. */
export interface Engine {
  readonly topology: Topology;
  /** Fingerprint of the topology, as JSON text. */
  readonly fingerprint: string;
  /** Digest of the code that runs here: no attempt mixes two versions (protocol §5). */
  readonly codeDigest: string;
  readonly uid: string;
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** Where tasks share a process; by default they shuffle through the object store. */
  readonly shuffle?: Shuffle;
  readonly source: Source;
  sink(id: string): TwoPhaseCommitSink;
  readonly state: StateStore;
  readonly executions: Executions;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  /** What an operator task is at, for the message of one that runs out of time. */
  running?(operator: string, partition: string, offset: number): void;
  /** Records and bytes that a task has read so far, for people to watch. */
  read?(records: number, bytes: number): void;
}

/** The pipeline's source: a topology begins with it. */
export function sourceOf({ topology }: Engine): SourceDescription {
  const node = topology.nodes[0];
  if (node?.kind !== "source") throw new Error("a topology begins with its source");
  return node.source;
}
