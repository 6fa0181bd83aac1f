import { commit, seal } from "../shared/epoch/commit.ts";
import type { Step } from "./handler.ts";
import { observeCommit, observeUncommitted } from "./metrics.ts";

/** `sink` is absent once all of them are committed: the epoch is to be sealed. */
export interface CommitInput {
  readonly epoch: number;
  readonly sink?: string;
}

/** States `Commit` and `Seal`. */
export const commitStep: Step<CommitInput, { readonly outcome: string }> = async (
  engine,
  { epoch, sink },
  { observe },
) => {
  try {
    if (sink !== undefined) return { outcome: await commit(engine, { epoch, sink }) };
    const outcome = await seal(engine, { epoch });
    if (outcome === "committed") await observeCommit(engine, epoch, observe);
    return { outcome };
  } catch (error) {
    observe("CommitFailures", 1);
    await observeUncommitted(engine, epoch, observe);
    throw error;
  }
};
