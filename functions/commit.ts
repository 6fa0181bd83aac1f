import { commit, seal } from "../shared/epoch/commit.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import type { Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";
import type { Observe } from "./metrics.ts";

/** `sink` is absent once all of them are committed: the epoch is to be sealed. */
export interface CommitInput {
  readonly epoch: number;
  readonly sink?: string;
}

/** States `Commit` and `Seal`. */
export const commitHandler = (deployment: Deployment) =>
  handlerOf("commit", deployment, async ({ epoch, sink }: CommitInput, { observe }) => {
    const engine = await deployment.engine();
    try {
      if (sink !== undefined) return { outcome: await commit(engine, { epoch, sink }) };
      const outcome = await seal(engine, { epoch });
      if (outcome === "committed") await observeCommit(engine, epoch, observe);
      return { outcome };
    } catch (error) {
      observe("CommitFailures", 1);
      await observeAge(engine, epoch, observe).catch(() => {}); // the failure itself matters more
      throw error;
    }
  });

async function observeCommit({ ledger }: Engine, epoch: number, observe: Observe): Promise<void> {
  const row = await ledger.epoch(epoch);
  if (row?.status !== "decided" || row.committedAt === null) return;
  observe("EpochsCommitted", 1);
  observe("CommitDuration", Math.max(0, row.committedAt - row.decision.decidedAt));
}

async function observeAge({ ledger, clock }: Engine, epoch: number, observe: Observe): Promise<void> {
  const row = await ledger.epoch(epoch);
  if (row?.status === "decided") observe("UncommittedAge", Math.max(0, clock.now() - row.decision.decidedAt));
}
