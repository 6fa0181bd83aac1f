import { LossError } from "../errors.ts";
import { compareFingerprints, type Fingerprint } from "../pipeline/fingerprint.ts";
import type { Head } from "../ports/ledger.ts";
import type { Engine } from "./engine.ts";
import type { EpochRow } from "./epoch.ts";
import { giveUpClaimed } from "./lose.ts";
import { executionName } from "./names.ts";
import { newPlan, smallerPlan } from "./plan-ranges.ts";
import { commitBackOffSeconds, eventsOfFused, eventsOfRound, eventsOfWait, taskCounts } from "./policy.ts";
import { mustPublish } from "./publish.ts";

export interface TaskName {
  readonly epoch: number;
  readonly attempt: number;
  readonly stage: number;
  readonly task: number;
}

/** What the state machine does next: an epoch to commit, one to process, or both at once. */
export interface Work {
  readonly commit?: {
    readonly epoch: number;
    readonly tasks: readonly { readonly epoch: number; readonly sink: string }[];
    /** Seconds to wait if it fails. */
    readonly retrySeconds: number;
  };
  readonly process?: {
    readonly epoch: number;
    readonly attempt: number;
    readonly stages: readonly { readonly tasks: readonly TaskName[] }[];
  };
}

export type PlanAnswer =
  | ({ readonly action: "work" } & Work)
  /** The same, and small enough for one invocation that does all of it. */
  | ({ readonly action: "fused" } & Work)
  /** `lost`: an epoch that was decided as far as it had got (at-most-once). */
  | { readonly action: "again"; readonly lost?: number }
  /** May be a fraction, which Step Functions has rounded up. `fused`: then the function of that name goes on, and not `Plan`. */
  | { readonly action: "wait"; readonly seconds: number; readonly fused?: true }
  /** Over: idle, or somebody else holds the lease; `start` names an execution to start if it does not exist. */
  | { readonly action: "end"; readonly start?: string };

/** Who asks what comes next. */
export interface Asking {
  /** Number of the execution. */
  readonly run: number;
  /** A function that itself does what is small: of its commits, and of waits that it sleeps, the state machine sees nothing. */
  readonly fused?: { readonly sleepsSeconds: number };
}

/**
 * What comes next (protocol §6). Only the owner of the lease changes anything. It reads the wake sequence before HEAD and the sources' ends: going idle is
 * conditional on it, so whatever arrives after these reads keeps it awake (I7).
 */
export async function plan(engine: Engine, { run, fused }: Asking): Promise<PlanAnswer> {
  const { ledger, policy, topology, uid } = engine;
  const name = (of: number) => executionName(topology.name, uid, of);
  const wake = await ledger.wake();
  if (wake.owner !== run) return wake.owner === null ? { action: "end" } : { action: "end", start: name(wake.owner) };
  const head = await ledger.head();
  if (!head) return { action: "end" };
  const goIdle = async (): Promise<PlanAnswer> =>
    (await ledger.release(run, wake.sequence)) === "released" ? { action: "end" } : { action: "again" };
  if (head.status === "stopped") return await goIdle();
  const sinks = Object.keys(topology.sinks).length;
  const most = eventsOfRound(policy.parallelism * topology.stages.length, sinks);
  if (wake.events > 0 && wake.events + most > policy.eventBudget) {
    const successor = await ledger.handOver(run);
    return successor === null ? { action: "again" } : { action: "end", start: name(successor) };
  }
  try {
    refuseOtherTopology(engine, head);
    const commit = head.committed < head.decided ? await commitWork(engine, head.committed + 1) : undefined;
    // Where nothing is left to commit, all that is must have been.
    const mostUncommitted = topology.guarantee === "exactly-once" ? 2 : 1;
    const mayPlan = head.status === "running" && !policy.draining() && head.decided - head.committed < mostUncommitted;
    const isDue = mayPlan && !(commit && (await isEarly(engine, head.decided)));
    const next = isDue ? await planNext(engine, run, head.decided).catch(commitFirst(commit)) : "nothing";
    if (next === "changed") return { action: "again" };
    if (typeof next === "object" && "lost" in next) return { action: "again", lost: next.lost };
    if (typeof next === "object" && "process" in next) return { ...next, ...(commit && { commit }) };
    if (commit)
      return fused || (await ledger.spend(run, eventsOfRound(0, sinks)))
        ? { action: fused ? "fused" : "work", commit }
        : { action: "again" };
    if (next === "nothing") return await goIdle();
    const isSlept = fused !== undefined && next.wait <= fused.sleepsSeconds;
    return isSlept || (await ledger.spend(run, eventsOfWait))
      ? { action: "wait", seconds: next.wait }
      : { action: "again" };
  } catch (error) {
    if (!(error instanceof LossError)) throw error;
    const place = { pipeline: topology.name, epoch: head.decided + 1, ...error.place };
    await ledger.stop({ ...error.describe(), place }, { owner: run });
    return { action: "again" };
  }
}

/** The last epoch took all that there was, and the next one's time has not come: its output need not wait for another look at the source. */
async function isEarly({ ledger, policy, clock }: Engine, decided: number): Promise<boolean> {
  const last = await ledger.epoch(decided);
  if (policy.bounded || !last || last.plannedAt + policy.paceMs <= clock.now()) return false;
  return last.plan.partitions.every(({ to, seen }) => (seen?.end ?? to) <= to);
}

/** What is decided is committed first (I4), whatever is the matter with source or sinks: it is found again when nothing waits for its commit. */
function commitFirst(commit: Work["commit"]) {
  return (error: unknown): "nothing" => {
    if (commit) return "nothing";
    throw error;
  };
}

/** State belongs to the topology that made it (protocol §8). */
function refuseOtherTopology(engine: Engine, head: Head): void {
  if (head.fingerprint === engine.fingerprint) return;
  const differences = compareFingerprints(
    JSON.parse(head.fingerprint) as Fingerprint,
    JSON.parse(engine.fingerprint) as Fingerprint,
  );
  if (differences.length === 0) return;
  throw new LossError(
    "topology-changed",
    `the pipeline is not the one that its state was made by: ${differences.join("; ")}`,
    {
      wayOut:
        "run the pipeline as it was and `epochflow resume` it, or begin anew with `epochflow reset`, or give the changed pipeline another name or --state",
    },
  );
}

/** Before anything is staged, every target says whether it can be, and is marked as ours. At the commit it would be too late to choose another. */
async function openSinks(engine: Engine, decided: number): Promise<void> {
  const { topology, uid } = engine;
  const direct = topology.guarantee !== "exactly-once";
  for (const sink of Object.keys(topology.sinks)) {
    const target = engine.sink(sink);
    if (direct) mustPublish(topology, sink, target);
    await target.open({ pipeline: topology.name, uid, sink, ...(direct ? { direct } : { decided }) });
  }
}

async function commitWork(engine: Engine, epoch: number): Promise<Work["commit"]> {
  const row = await engine.ledger.epoch(epoch);
  if (row?.status !== "decided") return undefined;
  const { sinks, decidedAt } = row.decision;
  const retrySeconds = commitBackOffSeconds(engine.clock.now() - decidedAt);
  return { epoch, tasks: sinks.map((sink) => ({ epoch, sink })), retrySeconds };
}

/** Plans the epoch after the last decided one: another attempt of one that is planned or fenced (I1), or a new one. */
async function planNext(
  engine: Engine,
  owner: number,
  decided: number,
): Promise<
  | (Required<Pick<Work, "process">> & { action: "work" | "fused" })
  | "nothing"
  | "changed"
  | { wait: number }
  | { lost: number }
> {
  const { ledger, topology, policy, clock } = engine;
  // Before the source is looked at: else each interval between two plans would be longer by the time that takes.
  const now = clock.now();
  const refused = await openSinks(engine, decided).catch((error: unknown) => error);
  if (refused !== undefined) {
    // Output that is newer than what this one knows may be that of a twin, who went on meanwhile (I8: the ledger is read again first).
    if (refused instanceof LossError && (await ledger.head())?.decided !== decided) return "changed";
    throw refused;
  }
  const epoch = decided + 1;
  const [last, found] = await Promise.all([ledger.epoch(decided), ledger.epoch(epoch)]);
  const row = found && (await giveUpClaimed(engine, found, owner));
  if (row === "changed") return row;
  if (row === "lost") return { lost: epoch };
  const planned = row ? await again(engine, row) : await newPlan(engine, last);
  if (planned === "nothing" || "wait" in planned) return planned;
  const tasks = taskCounts(policy, planned, topology.stages.length, topology.keyGroups, row?.failures ?? 0);
  const { guarantee } = topology;
  const fused = tasks.length > 1 && tasks.every((count) => count === 1);
  const stages = fused ? [1] : tasks;
  // What has failed may have been too much for that function, which has the state, and perhaps a commit, in its memory besides.
  const isSmall = policy.fused && stages.length === 1 && stages[0] === 1 && !row?.failures;
  const written = await ledger.plan({
    epoch,
    seen: row ? row.attempt : null,
    owner,
    plan: planned,
    attemptPlan: { codeDigest: engine.codeDigest, tasks, fused, ...(guarantee !== "exactly-once" && { guarantee }) },
    events: isSmall ? eventsOfFused : eventsOfRound(sum(stages), Object.keys(topology.sinks).length),
    now,
  });
  if (written.outcome !== "planned") return "changed";
  const process = { epoch, attempt: written.attempt, stages: stagesOf(epoch, written.attempt, stages) };
  return { action: isSmall ? "fused" : "work", process };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The plan that a row has; a smaller one if its last attempt ran out of time or memory (I1). */
async function again(engine: Engine, row: EpochRow) {
  const shrink = row.status === "fenced" && row.failure?.shrink && engine.policy.adaptive;
  return shrink ? await smallerPlan(engine.source, row.plan) : row.plan;
}

function stagesOf(epoch: number, attempt: number, tasks: readonly number[]) {
  return tasks.map((count, stage) => ({
    tasks: Array.from({ length: count }, (_, task) => ({ epoch, attempt, stage, task })),
  }));
}
