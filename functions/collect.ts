import { collect } from "../shared/epoch/collect.ts";
import type { Step } from "./handler.ts";

/** Last checkpoints to keep, and epochs whose rows are kept for people to look at. */
const retention = { checkpoints: 3, history: 1000 };

/** Deletes what no checkpoint names any more. Whatever invokes it, the input does not matter. */
export const collectStep: Step<object, Awaited<ReturnType<typeof collect>>> = async (engine, _, { observe }) => {
  const collected = await collect(engine, retention);
  observe("ObjectsCollected", collected.objects + collected.staged);
  return collected;
};
