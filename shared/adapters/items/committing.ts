import type { DecidedEpoch, Unit } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { Ledger } from "../../ports/ledger.ts";
import { isDecided, isNextToCommit, isSettled } from "./conditions.ts";
import type { ItemReader, Items } from "./item-store.ts";
import { epochKey, existing, headKey, type UnitItem, unitKey, unitsPrefix } from "./layout.ts";

export function units(items: ItemReader, epoch: number, sink?: string): Unit[] {
  const row = items.get(epochKey(epoch));
  if (!isDecided(row)) return [];
  const inOrder = items.list(unitsPrefix(row, sink)).sort((one, other) => one.position - other.position);
  return inOrder.map(({ position: _, ...unit }) => unit);
}

export function commitUnit(items: Items, epoch: number, sink: string, key: string): "committed" | "abandoned" | "gone" {
  const found = unitOf(items, epoch, sink, key);
  if (!found) return "gone";
  if (found.unit.status !== "prepared") return found.unit.status;
  assertInOrder(items, epoch, sink);
  items.update(unitKey(found.row, found.unit), { ...found.unit, status: "committed" });
  return "committed";
}

export function abandonUnit(
  items: Items,
  epoch: number,
  sink: string,
  key: string,
): "abandoned" | "committed" | "gone" {
  const found = unitOf(items, epoch, sink, key);
  if (!found) return "gone";
  if (found.unit.status !== "prepared") return found.unit.status;
  items.update(unitKey(found.row, found.unit), { ...found.unit, status: "abandoned" });
  return "abandoned";
}

export function recoverUnit(items: Items, epoch: number, sink: string, key: string): "committed" | "gone" {
  const found = unitOf(items, epoch, sink, key);
  if (!found || found.unit.status === "prepared") return "gone";
  if (found.unit.status === "abandoned")
    items.update(unitKey(found.row, found.unit), { ...found.unit, status: "committed" });
  return "committed";
}

export function failCommit(
  items: Items,
  epoch: number,
  { sink, error, now }: Parameters<Ledger["failCommit"]>[1],
): void {
  const row = items.get(epochKey(epoch));
  if (!isDecided(row) || row.committedAt !== null) return;
  const { count = 0, since = now } = row.commitFailure ?? {};
  items.update(epochKey(epoch), { ...row, commitFailure: { sink, error, count: count + 1, since, at: now } });
}

/** HEAD.committed n-1 → n (I4). */
export function commit(items: Items, epoch: number, now: number): "committed" | "incomplete" | "out-of-order" {
  const head = existing(items, headKey);
  if (head.committed >= epoch) return "committed";
  if (!isNextToCommit(head, epoch)) return "out-of-order";
  const row = existing(items, epochKey(epoch));
  invariant("I3", isDecided(row), "HEAD counts an epoch as decided that is not", { epoch });
  const all = items.list(unitsPrefix(row));
  const { unitCount } = row.decision;
  invariant("I5", all.length === unitCount, `of ${unitCount} decided units ${all.length} are there`, { epoch });
  if (!all.every(isSettled)) return "incomplete";
  items.update(epochKey(epoch), { ...row, committedAt: now });
  items.update(headKey, { ...head, committed: epoch });
  return "committed";
}

function unitOf(
  items: ItemReader,
  epoch: number,
  sink: string,
  key: string,
): { row: DecidedEpoch; unit: UnitItem } | undefined {
  const row = items.get(epochKey(epoch));
  const unit = isDecided(row) ? items.get(unitKey(row, { sink, key })) : undefined;
  return isDecided(row) && unit ? { row, unit } : undefined;
}

export function isPrepared(
  items: ItemReader,
  { epoch, sink, key }: { epoch: number; sink: string; key: string },
): boolean {
  return unitOf(items, epoch, sink, key)?.unit.status === "prepared";
}

/** I4: commits of one sink are in epoch order. */
function assertInOrder(items: ItemReader, epoch: number, sink: string): void {
  const head = existing(items, headKey);
  for (let earlier = head.committed + 1; earlier < epoch; earlier++) {
    const isDone = units(items, earlier, sink).every(isSettled);
    invariant("I4", isDone, `epoch ${earlier} of sink ${sink} is not committed yet`, { epoch, sink });
  }
}
