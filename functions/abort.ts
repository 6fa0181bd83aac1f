import { type AbortAnswer, type AbortInput, abort, type Failed, unfinished } from "../shared/epoch/abort.ts";
import type { Step } from "./handler.ts";
import { observeAbort } from "./metrics.ts";

/** State `Abort`: gives up an attempt, unless it is decided. */
export const abortAttemptStep: Step<AbortInput, AbortAnswer> = async (engine, input, { observe }) => {
  const answer = await abort(engine, input);
  if (answer.outcome === "aborted") await observeAbort(engine, input, observe);
  return answer;
};

/** Seconds that the state machine rests after a failure that no attempt explains. */
const restSeconds = 10;

/** State `Abort unfinished`: an invocation of several epochs has died, at whatever it was. So that the next attempt can be smaller if that was too much (I1). */
const abortUnfinishedStep: Step<Failed, AbortAnswer> = async (engine, { failure }, call) => {
  const id = await unfinished(engine);
  return id
    ? await abortAttemptStep(engine, { ...id, failure }, call)
    : { outcome: "aborted", waitSeconds: restSeconds };
};

export const abortStep: Step<AbortInput | Failed, AbortAnswer> = (engine, input, call) =>
  "epoch" in input ? abortAttemptStep(engine, input, call) : abortUnfinishedStep(engine, input, call);
