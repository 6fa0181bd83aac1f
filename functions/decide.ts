import { decide } from "../shared/epoch/decide.ts";
import type { EpochId } from "../shared/ports/ledger.ts";
import type { Step } from "./handler.ts";
import { observeDecision } from "./metrics.ts";

/** State `Decide`: makes the epoch's output and state final, or says why not. */
export const decideStep: Step<EpochId, { readonly outcome: string }> = async (engine, id, { observe }) => {
  const outcome = await decide(engine, id);
  if (outcome === "decided") await observeDecision(engine, id, observe);
  return { outcome };
};
