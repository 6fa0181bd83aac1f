import { decide } from "../shared/epoch/decide.ts";
import type { EpochId } from "../shared/ports/ledger.ts";
import type { Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";
import { observeDecision } from "./metrics.ts";

/** State `Decide`: makes the epoch's output and state final, or says why not. */
export const decideHandler = (deployment: Deployment) =>
  handlerOf("decide", deployment, async (id: EpochId, { observe }) => {
    const engine = await deployment.engine();
    const outcome = await decide(engine, id);
    const row = outcome === "decided" ? await engine.ledger.epoch(id.epoch) : undefined;
    if (row?.status === "decided") observeDecision(observe, row);
    return { outcome };
  });
