import type { Ledger } from "../ports/ledger.ts";
import type { CommitContext } from "../ports/sink.ts";
import type { Unit } from "./epoch.ts";
import { decidedIn } from "./epoch.ts";

/** A unit for its sink, with what the sink may ask the ledger about it. */
export function commitContext(
  ledger: Ledger,
  owner: { pipeline: string; uid: string; sink: string },
  epoch: number,
  { key, unit }: Pick<Unit, "key" | "unit">,
): CommitContext {
  return {
    ...owner,
    epoch,
    key,
    unit,
    ledger: {
      unit: async (of) => (await ledger.units(of, owner.sink)).find((one) => one.key === key),
      decidedAt: async (of) => decidedIn(await ledger.epoch(of))?.decidedAt,
      committed: async () => (await ledger.head())?.committed ?? 0,
      recover: async (of) => void (await ledger.recoverUnit(of, owner.sink, key)),
    },
  };
}
