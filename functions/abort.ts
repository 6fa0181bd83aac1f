import { type AbortAnswer, type AbortInput, abort, abortUnfinished, type Failed } from "../shared/epoch/abort.ts";
import type { Step } from "./handler.ts";
import { observeAbort } from "./metrics.ts";

/** State `Abort`: gives up an attempt, unless it is decided. */
export const abortAttemptStep: Step<AbortInput, AbortAnswer> = async (engine, input, { observe }) => {
  const answer = await abort(engine, input);
  if (answer.outcome === "aborted") await observeAbort(engine, input, observe);
  return answer;
};

/** Also state `Abort unfinished`, which knows no attempt. */
export const abortStep: Step<AbortInput | Failed, AbortAnswer> = (engine, input, call) =>
  "epoch" in input
    ? abortAttemptStep(engine, input, call)
    : abortUnfinished(engine, input, (attempt) => abortAttemptStep(engine, attempt, call));
