import { availableParallelism } from "node:os";
import type { Policy } from "../shared/epoch/policy.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { RunOptions } from "./options.ts";

/** `Plan`'s knobs for a run on this machine. */
export function localPolicy(options: RunOptions, draining = () => false): Policy {
  const records = options.epochRecords ?? null;
  return {
    bounded: !options.follow,
    hold: options.hold ?? false,
    intervalMs: options.epochIntervalMs ?? 1000,
    paceMs: options.follow ? (options.epochIntervalMs ?? 1000) : 0,
    // Given both, an epoch ends at whichever comes first; records alone are exact whatever the time.
    adaptive: records === null || options.epochIntervalMs !== undefined,
    records,
    parallelism: options.parallelism ?? availableParallelism(),
    taskBytes: 512 << 10, // a thread that is there costs less than a function to be called
    fused: false, // a function call is no state transition that costs
    attempts: options.attempts ?? 3,
    backOffMs: 100,
    eventBudget: 20_000,
    draining,
  };
}

/** Milliseconds for which failing infrastructure is tried again: a disk is there or not, while a service comes back; what follows its input has no end anyway. */
export function patienceOf({ patienceMs, follow }: RunOptions, { nodes, sinks }: Topology): number {
  if (patienceMs !== undefined) return patienceMs;
  if (follow) return Number.POSITIVE_INFINITY;
  const kinds = [...nodes.flatMap((node) => (node.kind === "source" ? [node.source] : [])), ...Object.values(sinks)];
  return kinds.every(({ kind }) => kind === "files") ? 0 : 120_000;
}
