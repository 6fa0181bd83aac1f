import { displayPath } from "../local/paths.ts";
import { readSnapshot, type Snapshot } from "../local/watch/snapshot.ts";
import type { Checkpoint, DecidedEpoch, EpochRow } from "../shared/epoch/epoch.ts";
import type { ErrorDescription } from "../shared/errors.ts";
import type { Guarantee } from "../shared/pipeline/topology.ts";
import type { Head } from "../shared/ports/ledger.ts";
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatFields,
  formatInstant,
  formatLost,
  formatOffsets,
  formatSome,
} from "./format.ts";
import type { OpenPipeline } from "./open-pipeline.ts";
import { formatError } from "./report.ts";

/** What `status` shows, and what `status --json` prints, with the pipeline's places by their names. */
export interface Status extends Head, Omit<Snapshot, "head"> {
  /** Whether a process or an execution works on it now. */
  readonly atWork: boolean;
  /** Of the last attempt. */
  readonly guarantee: Guarantee;
  /** Bytes of the snapshots that the last checkpoint names; null if one is missing. */
  readonly checkpointBytes: number | null;
}

export async function readStatus(pipeline: OpenPipeline): Promise<Status> {
  const { head, ...snapshot } = (await readSnapshot(pipeline.ledger, pipeline.head))!;
  return {
    ...head,
    ...pipeline.places,
    ...snapshot,
    atWork: await pipeline.atWork(),
    guarantee: (snapshot.next ?? snapshot.last)?.attemptPlan.guarantee ?? "exactly-once",
    checkpointBytes: snapshot.last === null ? 0 : await bytesOf(snapshot.last.decision.checkpoint, pipeline),
  };
}

async function bytesOf(checkpoint: Checkpoint, { sizeOf }: OpenPipeline): Promise<number | null> {
  const runs = Object.values(checkpoint.stages).flat();
  const objects = new Set(runs.flatMap((run) => run.objects));
  const sizes = await Promise.all([...objects].map(sizeOf));
  return sizes.reduce<number | null>((sum, size) => (sum === null || size === undefined ? null : sum + size), 0);
}

type Where = Pick<OpenPipeline, "places" | "worker" | "flags">;

export function formatStatus(status: Status, where: Where, now: number): string {
  const { last, next, uncommitted } = status;
  const fields: [string, string][] = [
    ["pipeline", status.pipeline],
    ["uid", status.uid],
    ...Object.entries(where.places).map(formatPlace),
    ["status", formatHeadStatus(status, where)],
    [where.worker, formatWorker(status, where)],
    ["epochs", `${formatCount(status.decided)} decided, ${formatCount(status.committed)} committed`],
    ["guarantee", status.guarantee],
  ];
  const lost = last?.decision.lostSoFar;
  if (lost !== undefined) fields.push(["lost", formatLost(lost)]);
  if (uncommitted !== null) {
    const age = formatDuration(now - uncommitted.decision.decidedAt);
    const sinks = uncommitted.decision.sinks.join(", ");
    const failure = formatCommitFailure(uncommitted, now);
    fields.push([
      "uncommitted",
      `since epoch ${uncommitted.epoch}, decided ${age} ago; sinks: ${sinks || "none"}${failure}`,
    ]);
  }
  if (last !== null) fields.push(...formatLast(status, last, now));
  if (next !== null) fields.push(["next", formatNext(next, status, now)]);
  return formatFields(fields);
}

/** What holds a commit up: it is tried again for ever, and may need somebody's help. */
function formatCommitFailure({ commitFailure }: DecidedEpoch, now: number): string {
  if (commitFailure === null) return "";
  const { count, since, at, sink, error } = commitFailure;
  const times = `${formatCounted(count, "failed commit")} of sink ${sink} in ${formatDuration(now - since)}, the last ${formatDuration(now - at)} ago`;
  return `\n${times}\n${formatError(error)}`;
}

/** The name of a place is that of a property; the folder of a state is shown as it is seen from here. */
function formatPlace([name, place]: [string, string]): [string, string] {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return [words, name === "state" ? displayPath(place) : place];
}

function formatHeadStatus({ status, error, atWork }: Status, { worker, flags }: Where): string {
  if (status === "running") return atWork ? "running" : "ready";
  const resume = `\`epochflow resume${flags}\` lets it go on`;
  if (status === "paused") return `paused: ${resume}`;
  // On this machine the next run is as good, unless something is lost.
  const way = error?.kind === "loss" || worker === "execution" ? resume : "`epochflow run` tries again";
  return ["stopped", ...(error === null ? [] : [formatError(error)]), `Once the cause is mended, ${way}.`].join("\n");
}

/** A lease may name a run that is dead: the lock on the state, or the execution, is what tells. */
function formatWorker({ atWork, wake: { owner } }: Status, { worker }: Where): string {
  if (atWork) return owner === null ? "at work" : `at work: run ${owner} holds the lease`;
  const next = worker === "process" ? "run" : "wake-up";
  return owner === null
    ? "none at work"
    : `none at work: run ${owner} has ended with the lease, which the next ${next} takes`;
}

function formatLast({ checkpointBytes }: Status, { epoch, decision }: DecidedEpoch, now: number): [string, string][] {
  const { counts, partitions, watermark } = decision;
  const what =
    decision.kind === "restore"
      ? "a restore"
      : `${formatCounted(counts.records, "record")}, ${formatBytes(counts.bytes)}`;
  const positions = partitions.map((one) => `${one.id} ${formatCount(one.position)}`);
  return [
    ["last epoch", `${epoch}, decided ${formatDuration(now - decision.decidedAt)} ago: ${what}`],
    ["watermark", formatInstant(watermark)],
    ["positions", formatSome(positions, 5)],
    [
      "checkpoint",
      checkpointBytes === null ? "incomplete: a snapshot object is missing" : formatBytes(checkpointBytes),
    ],
  ];
}

/** What has stopped the pipeline stands above already. */
function formatLastFailure(failure: ErrorDescription, stop: ErrorDescription | null): string {
  return failure.message === stop?.message ? ", the last by the error above" : `\n${formatError(failure)}`;
}

function formatNext(row: EpochRow, { offsets, error }: Status, now: number): string {
  const ranges = row.plan.partitions.filter((one) => one.to > one.from);
  const lag = ranges.reduce((sum, one) => sum + one.to - one.from, 0);
  const failure =
    row.failure === null
      ? ""
      : `\n${formatCounted(row.failures, "failed attempt")}${formatLastFailure(row.failure.error, error)}`;
  const age = formatDuration(now - row.plannedAt);
  return `${row.epoch}, ${row.status}, attempt ${row.attempt}, planned ${age} ago: ${formatOffsets(lag, offsets)}${failure}`;
}
