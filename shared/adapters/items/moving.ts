import { type EpochRow, type Transition, transitions } from "../../epoch/epoch.ts";
import { invariant } from "../../invariant.ts";
import type { Items } from "./item-store.ts";
import { epochKey } from "./layout.ts";

/** The one place where an epoch changes its status: by a verb, as the table of transitions has it. */
export function move(items: Items, by: Transition, before: EpochRow | undefined, after: EpochRow): void {
  const { epoch, attempt } = after;
  const from = before?.status ?? "none";
  invariant("I3", transitions[from][by] === after.status, `${by} cannot move an epoch from ${from}`, {
    epoch,
    attempt,
  });
  if (before) items.update(epochKey(epoch), after);
  else items.insert(epochKey(epoch), after);
}
