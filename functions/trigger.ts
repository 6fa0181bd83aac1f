import { runOf } from "../shared/epoch/names.ts";
import { startOwner, wake } from "../shared/epoch/wake.ts";
import type { Awakener, Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";
import { type TriggerEvent, type WakeUp, wakeUpsOf } from "./wake-up.ts";

type Outcome = Awaited<ReturnType<typeof wake>> | "foreign";

/** Wakes the coordinator (I7). It throws if it could not start an execution, so that whatever has invoked it does so again. */
export const triggerHandler = (deployment: Deployment) =>
  handlerOf("trigger", deployment, async (event: TriggerEvent, { observe }) => {
    const awakener = await deployment.awakener();
    const outcomes: Outcome[] = [];
    for (const wakeUp of wakeUpsOf(event)) outcomes.push(await serve(awakener, wakeUp));
    observe("Wakes", outcomes.length);
    return { outcomes };
  });

async function serve(awakener: Awakener, wakeUp: WakeUp): Promise<Outcome> {
  if (wakeUp.kind === "wake") return await wake(awakener);
  if (wakeUp.kind === "start") {
    await startOwner(awakener, wakeUp.name);
    return "started";
  }
  // The event is the proof that this execution is over; one of another name is no owner of this lease.
  const over = runOf(awakener.pipeline, awakener.uid, wakeUp.name);
  return over === undefined ? "foreign" : await wake(awakener, over);
}
