import type { Ack, EpochRow } from "../../../shared/epoch/epoch.ts";
import { phasesOf, stateBytesOf } from "../phases.ts";
import type { EpochData, EpochStatus } from "./page-data.ts";

/** An epoch as the page shows it. */
export function epochData(row: EpochRow, acks: readonly Ack[]): EpochData {
  const { epoch, attempt, failures, plannedAt, plan, failure } = row;
  const decision = row.status === "decided" ? row.decision : null;
  return {
    epoch,
    status: statusOf(row),
    attempt,
    failures,
    plannedAt,
    decidedAt: decision?.decidedAt ?? null,
    committedAt: row.status === "decided" ? row.committedAt : null,
    phases: phasesOf(row, acks),
    tasks: acks.map(({ stage, task, startedAt, endedAt, counts }) => ({
      ...{ stage, task, from: startedAt, to: Math.max(startedAt, endedAt), records: counts.records },
    })),
    counts: decision?.counts ?? null,
    watermark: decision?.watermark ?? null,
    left: plan.partitions.reduce((sum, { to, seen }) => sum + (seen ? Math.max(0, seen.high - to) : 0), 0),
    stateBytes: decision === null ? null : stateBytesOf(acks),
    error: failure?.error ?? null,
  };
}

function statusOf(row: EpochRow): EpochStatus {
  if (row.status === "planned") return "planned";
  if (row.status === "fenced") return "aborted";
  if (row.decision.kind === "restore") return "restored";
  return row.committedAt === null ? "decided" : "committed";
}
