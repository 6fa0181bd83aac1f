/** Which checkpoints are held, and which rows may go (protocol §8; I5). */
import type { EpochRow } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { Ledger } from "../../ports/ledger.ts";
import { isDecided, isForgotten, isHeld } from "./conditions.ts";
import type { Items, Key } from "./item-store.ts";
import {
  attemptPrefix,
  detailsPrefix,
  epochKey,
  epochKeyIn,
  existing,
  headKey,
  isEpochKey,
  isUnitKey,
} from "./layout.ts";

/** A dropped checkpoint can no longer be pinned, and a pinned one not dropped: one of the two loses. */
export function drop(items: Items, epoch: number): "dropped" | "pinned" | "missing" {
  const row = items.get(epochKey(epoch));
  if (!isDecided(row)) return "missing";
  if (row.dropped) return "dropped";
  if (isHeld(row, existing(items, headKey))) return "pinned";
  items.update(epochKey(epoch), { ...row, dropped: true });
  return "dropped";
}

export function pin(items: Items, epoch: number, name: string): "pinned" | "dropped" | "missing" {
  const row = items.get(epochKey(epoch));
  if (!isDecided(row)) return "missing";
  if (row.dropped) return "dropped";
  if (!row.pins.includes(name)) items.update(epochKey(epoch), { ...row, pins: [...row.pins, name] });
  return "pinned";
}

export function unpin(items: Items, epoch: number, name: string): void {
  const row = items.get(epochKey(epoch));
  if (!isDecided(row) || !row.pins.includes(name)) return;
  items.update(epochKey(epoch), { ...row, pins: row.pins.filter((one) => one !== name) });
}

type Keep = Parameters<Ledger["trim"]>[0];

export function trim(items: Items, keep: Keep): number {
  invariant("I5", keep.detailsFrom >= keep.epochsFrom, "acks and units would outlive their epochs");
  const head = existing(items, headKey);
  const openFrom = Math.max(1, Math.min(keep.detailsFrom, head.committed + 1));
  const asked = new Set(askedFor(items, head.committed, head.decided).map(epochKey));
  const settled = settledRows(items, openFrom, keep).filter((key) => !asked.has(key as Key<EpochRow>));
  const unwanted = [...settled, ...formerAttempts(items, openFrom, head.decided + 1)];
  for (const key of unwanted) items.delete(key);
  return unwanted.length;
}

/** The epochs in which unit keys last had output: sinks ask when they were decided, before they commit the next (protocol §9). */
function askedFor(items: Items, committed: number, decided: number): number[] {
  const epochs: number[] = [];
  for (let epoch = committed; epoch <= decided; epoch++) {
    const row = items.get(epochKey(epoch));
    if (isDecided(row)) epochs.push(...Object.values(row.decision.previous));
  }
  return epochs;
}

/** Of committed epochs: all acks and units but abandoned ones, and the epochs whose checkpoint nobody holds. Walks the rows that are there, since most went long ago. */
function settledRows(items: Items, below: number, { epochsFrom }: Keep): string[] {
  const isHeldKey = (key: Key<EpochRow>): boolean =>
    key >= epochKey(Math.max(0, epochsFrom)) || !isForgotten(items.get(key));
  const keys = items.keys(epochKey(0), epochKey(below));
  const abandoned = keys.filter(isUnitKey).filter((key) => items.get(key)?.status === "abandoned");
  const kept = new Set<string>([...abandoned, ...abandoned.map(epochKeyIn)]);
  return keys.filter((key) => !kept.has(key) && !(isEpochKey(key) && isHeldKey(key)));
}

/** Of all others: acks of attempts below the current or decided one. */
function formerAttempts(items: Items, from: number, to: number): string[] {
  const unwanted: string[] = [];
  for (let epoch = from; epoch <= to; epoch++) {
    const row = items.get(epochKey(epoch));
    if (row) unwanted.push(...items.keys(detailsPrefix(epoch), attemptPrefix(row)));
  }
  return unwanted;
}
