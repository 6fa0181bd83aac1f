import { type AbortInput, abort } from "../shared/epoch/abort.ts";
import type { Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";

/** State `Abort`: gives up an attempt, unless it is decided. */
export const abortHandler = (deployment: Deployment) =>
  handlerOf("abort", deployment, async (input: AbortInput, { observe }) => {
    const answer = await abort(await deployment.engine(), input);
    if (answer.outcome === "aborted") observe("AttemptsAborted", 1);
    return answer;
  });
