import type { Ack, EpochRow, Failure } from "../../epoch/epoch.ts";
import type { EpochId, Ledger } from "../../ports/ledger.ts";
import { isDecidedAt, isPlannedAt, ownsLease } from "./conditions.ts";
import type { ItemReader, Items } from "./item-store.ts";
import { ackKey, acksPrefix, epochKey, existing, wakeKey } from "./layout.ts";
import { move } from "./moving.ts";

/** Put-if-absent: acks never change. A retry that meets its own ack, even of an attempt that is over, learns that it has won. */
export function ack(items: Items, id: EpochId, given: Ack): Awaited<ReturnType<Ledger["ack"]>> {
  const key = ackKey(id, given);
  const first = items.get(key);
  if (first) return { outcome: "acknowledged", ack: first };
  if (!isPlannedAt(items.get(epochKey(id.epoch)), id.attempt)) return { outcome: "fenced" };
  items.insert(key, given);
  return { outcome: "acknowledged", ack: given };
}

/** The one change that an ack may see: it says what has become of its rows. */
export function confirm(items: Items, id: EpochId, task: Pick<Ack, "stage" | "task">, sinks: readonly string[]): void {
  const key = ackKey(id, task);
  const there = items.get(key);
  if (there) items.update(key, { ...there, published: sinks });
}

/** By stage and task, as their keys sort. */
export function acks(items: ItemReader, id: EpochId, stage?: number): Ack[] {
  return items.list(acksPrefix(id, stage));
}

export function fail(items: Items, id: EpochId, failure: Failure): void {
  const row = items.get(epochKey(id.epoch));
  if (isPlannedAt(row, id.attempt) && row.failure === null) items.update(epochKey(id.epoch), { ...row, failure });
}

/** planned → fenced (I3): from here on this attempt can never be decided. */
export function fence(
  items: Items,
  id: EpochId,
  failure: Failure,
  owner?: number,
): Awaited<ReturnType<Ledger["fence"]>> {
  if (owner !== undefined && !ownsLease(existing(items, wakeKey), owner)) return { outcome: "superseded" };
  const row = items.get(epochKey(id.epoch));
  if (isDecidedAt(row, id.attempt)) return { outcome: "decided" };
  if (row?.attempt !== id.attempt) return { outcome: "superseded" };
  if (row.status === "fenced") return { outcome: "fenced", row };
  const fenced: EpochRow = {
    ...row,
    status: "fenced",
    failures: row.failures + 1,
    failure: row.failure ?? failure,
  };
  move(items, "fence", row, fenced);
  return { outcome: "fenced", row: fenced };
}
