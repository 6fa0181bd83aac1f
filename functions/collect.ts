import { collect } from "../shared/epoch/collect.ts";
import type { Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";

/** Last checkpoints to keep, and epochs whose rows are kept for people to look at. */
const retention = { checkpoints: 3, history: 1000 };

/** Deletes what no checkpoint names any more. Whatever invokes it, the input does not matter. */
export const collectHandler = (deployment: Deployment) =>
  handlerOf("collect", deployment, async (_: object, { observe }) => {
    const collected = await collect(await deployment.engine(), retention);
    observe("ObjectsCollected", collected.objects + collected.staged);
    return collected;
  });
