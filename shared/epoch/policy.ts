import type { CutLimit } from "../ports/source.ts";
import type { EpochPlan, EpochRow } from "./epoch.ts";

/** The knobs of `Plan`: nothing here can make a result wrong. */
export interface Policy {
  /** The input ends where it ends now: at its end windows are closed, and nothing is waited for. */
  readonly bounded: boolean;
  /** At the end of a bounded input, leave windows open. */
  readonly hold: boolean;
  /** Milliseconds that an epoch should take. */
  readonly intervalMs: number;
  /** Milliseconds between the plans of two epochs of a stream, unless the later one is full; 0: as soon as there is input. */
  readonly paceMs: number;
  /** Adapt the size of epochs to `intervalMs`. */
  readonly adaptive: boolean;
  /** Records of an epoch, exactly; null: any number. */
  readonly records: number | null;
  /** Most tasks of a stage. */
  readonly parallelism: number;
  /** Bytes below which an epoch is not worth one more task a stage; 2 MiB. */
  readonly taskBytes?: number;
  /** Epochs of one task are processed and committed by one function, several in one invocation. */
  readonly fused: boolean;
  /** Failed attempts after which the pipeline stops, for errors that do not pass by themselves. */
  readonly attempts: number;
  /** Milliseconds to wait after the first failed attempt; doubles up to a minute. */
  readonly backOffMs: number;
  /** History events after which an execution hands over to its successor; AWS ends a standard one at 25,000. */
  readonly eventBudget: number;
  /** Begin no further epoch: what is decided is committed, then the execution ends. */
  draining(): boolean;
  /** Overrides the number of tasks of each stage. */
  chooseTasks?(plan: EpochPlan, stages: number): readonly number[];
}

/** Bytes of a first epoch, before anything is known of the speed. */
const firstBytes = 16 << 20;
/** Of fewer, an epoch's time is not its records' any more: it would get smaller and smaller, and never keep up. */
const leastBytes = 256 << 10;
const defaultTaskBytes = 2 << 20;

/** How much the next epoch may take: what fitted into the interval last time, at most four times as much as last time (protocol §6, Elastic). */
export function epochLimit(policy: Policy, last: EpochRow | undefined): Required<CutLimit> {
  const records = policy.records ?? Number.POSITIVE_INFINITY;
  if (!policy.adaptive) return { records, bytes: Number.POSITIVE_INFINITY };
  if (last?.status !== "decided" || last.decision.counts.bytes === 0) return { records, bytes: firstBytes };
  const took = Math.max(1, last.decision.decidedAt - last.plannedAt);
  const factor = Math.min(4, Math.max(0.25, policy.intervalMs / took));
  return { records, bytes: Math.max(leastBytes, Math.round(last.decision.counts.bytes * factor)) };
}

/**
 * Number of tasks a stage, from the size of the epoch; half as many after each failed attempt, until it is one: where functions have no room for so many at once, or
 * each task has its own chance to fail, fewer come through.
 */
export function taskCounts(
  policy: Policy,
  plan: EpochPlan,
  stages: number,
  keyGroups: number,
  failures: number,
): readonly number[] {
  if (policy.chooseTasks) return policy.chooseTasks(plan, stages);
  const pieces = plan.partitions.reduce((sum, one) => sum + (one.to > one.from ? one.cuts.length + 1 : 0), 0);
  const most = Math.min(policy.parallelism, pieces, Math.ceil(plan.bytes / (policy.taskBytes ?? defaultTaskBytes)));
  const worth = Math.max(1, Math.floor(most / 2 ** failures));
  return Array.from({ length: stages }, (_, stage) => (stage === 0 ? worth : Math.min(worth, keyGroups)));
}

/** Milliseconds to wait after that many failed attempts in a row. */
export function backOff(policy: Policy, failures: number): number {
  return Math.min(60_000, policy.backOffMs * 2 ** Math.min(16, Math.max(0, failures - 1)));
}

/** Seconds to wait before a commit is tried again: grows with the age of the decision, which the ledger holds. */
export function commitBackOffSeconds(ageMs: number): number {
  return Math.min(60, Math.max(1, Math.round(ageMs / 4000)));
}

/** History events from a plan that answers `wait` to the next. */
export const eventsOfWait = 12;

/** From a plan that answers `fused` to the next that the state machine asks for, failures included; inside the function itself there are none. */
export const eventsOfFused = 30;

/** History events that one round of the state machine may cost at most (protocol §6, Hand-over). */
export function eventsOfRound(tasks: number, commits: number): number {
  return 60 + 16 * tasks + 16 * commits;
}
