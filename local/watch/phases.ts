import type { Ack, EpochRow } from "../../shared/epoch/epoch.ts";
import type { Phase, PhaseName } from "./phase.ts";

/**
 * Where an epoch's time went, as the ledger tells it. Without acks, which are collected after some hundred epochs, all up to the decision is one `operate`. Clocks
 * of several machines may differ by more than a phase takes: none is negative.
 */
export function phasesOf(row: EpochRow, acks: readonly Ack[]): Phase[] {
  const { plannedAt } = row;
  const decidedAt = row.status === "decided" ? row.decision.decidedAt : null;
  if (row.status === "decided" && row.decision.kind === "restore") return [];
  const phases: Phase[] = [];
  const add = (phase: PhaseName, from: number, to: number | null) =>
    phases.push({ phase, from, to: to === null ? null : Math.max(from, to) });
  if (acks.length === 0) add("operate", plannedAt, decidedAt);
  else {
    const startedAt = Math.max(plannedAt, Math.min(...acks.map((ack) => ack.startedAt)));
    const endedAt = Math.max(startedAt, ...acks.map((ack) => ack.endedAt));
    add("start", plannedAt, startedAt);
    add("operate", startedAt, decidedAt === null ? null : endedAt);
    if (decidedAt !== null) add("decide", endedAt, decidedAt);
  }
  if (row.status === "decided") add("commit", row.decision.decidedAt, row.committedAt);
  return phases;
}

/** Of all state, as the tasks of an epoch have told it; null where there are no acks. */
export function stateBytesOf(acks: readonly Ack[]): number | null {
  return acks.length === 0 ? null : acks.reduce((sum, ack) => sum + ack.stateBytes, 0);
}
