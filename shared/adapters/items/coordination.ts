/** HEAD's status, the lease and the wake-ups (protocol §6). A lease is written to a run before that run is started. */
import type { ErrorDescription } from "../../errors.ts";
import type { Head, Ledger, Wake } from "../../ports/ledger.ts";
import { isPrepared } from "./committing.ts";
import {
  isFullyCommitted,
  isLastAttempt,
  isNextToCommit,
  isRunning,
  isStillAsleep,
  isStopped,
  ownsLease,
} from "./conditions.ts";
import type { ItemReader, Items } from "./item-store.ts";
import { epochKey, existing, headKey, wakeKey } from "./layout.ts";

type StoppedBy = Parameters<Ledger["stop"]>[1];

export function open(items: Items, first: Parameters<Ledger["open"]>[0]): Head {
  const head = items.get(headKey);
  if (head) return head;
  const { pipeline, uid, fingerprint } = first;
  const made: Head = { pipeline, uid, decided: 0, committed: 0, status: "running", error: null, fingerprint };
  items.insert(headKey, made);
  items.insert(wakeKey, { sequence: 0, owner: null, run: 0, events: 0 });
  return made;
}

export function stop(items: Items, error: ErrorDescription, by: StoppedBy): "stopped" | "changed" {
  const head = existing(items, headKey);
  if (isStopped(head) || !mayStop(items, head, by)) return "changed";
  items.update(headKey, { ...head, status: "stopped", error });
  return "stopped";
}

/** I8: a zombie may not. */
function mayStop(items: ItemReader, head: Head, by: StoppedBy): boolean {
  if ("attempt" in by) return isLastAttempt(items.get(epochKey(by.attempt.epoch)), by.attempt.attempt);
  if ("unit" in by) return isPrepared(items, by.unit);
  if ("uncommitted" in by) return isNextToCommit(head, by.uncommitted);
  return ownsLease(existing(items, wakeKey), by.owner);
}

/** A stopped pipeline stays stopped, with its error, when it is paused. */
export function setStatus(items: Items, status: "running" | "paused"): Head {
  const head = existing(items, headKey);
  if (head.status === status || (status === "paused" && !isRunning(head))) return head;
  const changed: Head = { ...head, status, error: null };
  items.update(headKey, changed);
  return changed;
}

/** I7: counts the wake-up, and returns the lease as it is after the very same write. */
export function increment(items: Items, over: number | null): Wake {
  const wake = existing(items, wakeKey);
  const owner = over !== null && ownsLease(wake, over) ? null : wake.owner;
  const woken: Wake = { ...wake, sequence: wake.sequence + 1, owner };
  items.update(wakeKey, woken);
  return woken;
}

export function grant(items: Items, seen: { owner: number | null; run: number }): number | null {
  const wake = existing(items, wakeKey);
  return wake.owner === seen.owner && wake.run === seen.run ? passLease(items, wake) : null;
}

export function handOver(items: Items, owner: number): number | null {
  const wake = existing(items, wakeKey);
  return ownsLease(wake, owner) ? passLease(items, wake) : null;
}

function passLease(items: Items, wake: Wake): number {
  const run = wake.run + 1;
  items.update(wakeKey, { ...wake, owner: run, run, events: 0 });
  return run;
}

export function spend(items: Items, owner: number, events: number): boolean {
  const wake = existing(items, wakeKey);
  if (!ownsLease(wake, owner)) return false;
  items.update(wakeKey, { ...wake, events: wake.events + events });
  return true;
}

/** Going idle, in one write (I7). */
export function release(items: Items, owner: number, sequence: number): "released" | "changed" {
  const wake = existing(items, wakeKey);
  const head = existing(items, headKey);
  const mayRest = isFullyCommitted(head) || !isRunning(head);
  if (!ownsLease(wake, owner) || !isStillAsleep(wake, sequence) || !mayRest) return "changed";
  items.update(wakeKey, { ...wake, owner: null });
  return "released";
}
