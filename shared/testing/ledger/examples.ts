/** A small pipeline's life in a ledger: one partition, of which epoch n reads `[10(n-1), 10n)`; run 1 holds the lease; one task. */
import assert from "node:assert/strict";
import type { Ack, Decision, EpochPlan, Failure, Unit } from "../../epoch/epoch.ts";
import type { EpochId, Ledger } from "../../ports/ledger.ts";

export const first = {
  pipeline: "example",
  uid: "uid1",
  fingerprint:
    '{"format":1,"keyGroups":128,"sources":{"source-1":"files"},"operators":{},"sinks":{"late":"files","out":"files"}}',
};
export const attemptPlan = { codeDigest: "code", tasks: [1], fused: true };

export function planOf(epoch: number, change: { from?: number; to?: number; watermark?: number } = {}): EpochPlan {
  const { from = 10 * (epoch - 1), to = 10 * epoch, watermark = epoch } = change;
  const range = { from, to, cuts: [], idle: false, maxEventTime: null, activeAt: 0 };
  return {
    partitions: [{ id: "p", identity: "file", ...range }],
    watermark,
    bytes: 100,
    advanceTo: null,
    processingTime: 1,
  };
}

export function failureOf(code = "broken", shrink = false): Failure {
  return { error: { kind: "infrastructure", code, message: "it broke" }, shrink };
}

export function ackOf(nonce: string, change: Partial<Ack> = {}): Ack {
  const counts = { records: 10, bytes: 100, skipped: 0, deadLettered: 0, late: 0, rows: {} };
  const prepared = [{ stage: 0, sink: "out", handle: { file: nonce } }];
  const times = { maxEventTimes: { p: 7 }, nextFire: null, openUntil: null, stateBytes: 0, startedAt: 1, endedAt: 2 };
  return { stage: 0, task: 0, nonce, chains: {}, shuffle: null, prepared, counts, ...times, ...change };
}

export type NewUnit = Omit<Unit, "status">;
export const unitOf = (key: string, sink = "out"): NewUnit => ({ sink, key, unit: { file: `${sink}/${key}` } });

export interface DecisionExample {
  readonly units?: readonly NewUnit[];
  readonly token?: string;
  readonly position?: number;
  readonly kind?: "process" | "restore";
}

/** The decision of an epoch, going on from the last one in the ledger. */
export async function decisionOf(ledger: Ledger, epoch: number, change: DecisionExample = {}): Promise<Decision> {
  const { units = [unitOf("0")], token = `token-${epoch}`, position = 10 * epoch, kind = "process" } = change;
  const last = await ledger.epoch(epoch - 1);
  const before = last?.status === "decided" ? last.decision.previous : {};
  const counts = { records: 10, bytes: 100, skipped: 0, deadLettered: 0, late: 0, rows: {} };
  return {
    kind,
    checkpoint: { stages: { "1": [{ from: 0, to: 128, objects: [`snapshot-${epoch}`] }] } },
    partitions: [{ id: "p", identity: "file", position, maxEventTime: 7, activeAt: 0 }],
    watermark: epoch,
    nextFire: null,
    openUntil: null,
    counts,
    token,
    unitCount: units.length,
    sinks: [...new Set(units.map((one) => one.sink))].sort(),
    previous: { ...before, ...Object.fromEntries(units.map((one) => [`${one.sink}/${one.key}`, epoch])) },
    decidedAt: 3,
  };
}

/** Opens the ledger; run 1 gets the lease. */
export async function begin(ledger: Ledger): Promise<void> {
  await ledger.open(first);
  assert.equal(await ledger.grant({ owner: null, run: 0 }), 1);
}

type PlanWrite = Parameters<Ledger["plan"]>[0];

export function planWrite(epoch: number, change: Partial<PlanWrite> = {}): PlanWrite {
  return { epoch, seen: null, owner: 1, plan: planOf(epoch), attemptPlan, events: 0, now: 1, ...change };
}

/** Plans an attempt, which must be possible. */
export async function planned(ledger: Ledger, epoch: number, change: Partial<PlanWrite> = {}): Promise<EpochId> {
  const outcome = await ledger.plan(planWrite(epoch, change));
  assert.equal(outcome.outcome, "planned");
  assert(outcome.outcome === "planned");
  return { epoch, attempt: outcome.attempt };
}

/** Plans, acknowledges and decides an epoch. */
export async function decided(ledger: Ledger, epoch: number, change: DecisionExample = {}): Promise<EpochId> {
  const id = await planned(ledger, epoch);
  await ledger.ack(id, ackOf(`nonce-${epoch}`));
  const units = change.units ?? [unitOf("0")];
  const decision = await decisionOf(ledger, epoch, change);
  assert.equal(await ledger.decide(id, { decision, units, ackCount: 1 }), "decided");
  return id;
}

export async function commitAll(ledger: Ledger, epoch: number): Promise<void> {
  for (const { sink, key } of await ledger.units(epoch)) await ledger.commitUnit(epoch, sink, key);
  assert.equal(await ledger.commit(epoch, 4), "committed");
}

/** An epoch from plan to commit. */
export async function committed(ledger: Ledger, epoch: number, change: DecisionExample = {}): Promise<EpochId> {
  const id = await decided(ledger, epoch, change);
  await commitAll(ledger, epoch);
  return id;
}

/** That a call is refused by the named invariant. */
export async function refusedBy(invariant: string, call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, { name: "InvariantError", code: `invariant-${invariant}` });
}
