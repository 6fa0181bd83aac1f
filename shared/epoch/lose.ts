import { InfrastructureError } from "../errors.ts";
import { decisionOf } from "./decide.ts";
import type { Engine } from "./engine.ts";
import { decidedIn, type EpochRow } from "./epoch.ts";
import { hasRows } from "./loss.ts";

/**
 * What an unfinished at-most-once attempt has claimed is not done again: its rows are there, or may be. It is fenced, so that no claim can follow; then it is decided as it
 * is, and what is not claimed is lost. Without a claim nothing of it was ever visible, and it may be tried again.
 *
 * @param owner the planner's run
 * @returns the row as it is now; that the epoch has come to its end; or that somebody else is at it
 */
export async function giveUpClaimed(
  engine: Engine,
  row: EpochRow,
  owner: number,
): Promise<EpochRow | "lost" | "changed"> {
  if (row.attemptPlan.guarantee !== "at-most-once") return row;
  const { ledger } = engine;
  const error = new InfrastructureError("attempt-unfinished", "its tasks were not done, and nobody was at them");
  const fenced = await ledger.fence(row, { error: error.describe(), shrink: false }, owner);
  if (fenced.outcome !== "fenced") return "changed";
  const acks = await ledger.acks(row);
  if (!acks.some(hasRows)) return fenced.row;
  const before = decidedIn(await ledger.epoch(row.epoch - 1));
  const outcome = await ledger.lose(row, decisionOf(engine, fenced.row, acks, before));
  return outcome === "decided" ? "lost" : "changed";
}
