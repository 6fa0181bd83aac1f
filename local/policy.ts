import { availableParallelism } from "node:os";
import type { Policy } from "../shared/epoch/policy.ts";
import type { RunOptions } from "./options.ts";

/** `Plan`'s knobs for a run on this machine. */
export function localPolicy(options: RunOptions, draining = () => false): Policy {
  const records = options.epochRecords ?? null;
  return {
    bounded: true,
    hold: options.hold ?? false,
    intervalMs: options.epochIntervalMs ?? 1000,
    // Given both, an epoch ends at whichever comes first; records alone are exact whatever the time.
    adaptive: records === null || options.epochIntervalMs !== undefined,
    records,
    parallelism: options.parallelism ?? availableParallelism(),
    attempts: options.attempts ?? 3,
    backOffMs: 100,
    eventBudget: 20_000,
    draining,
  };
}
