import { runOf } from "../shared/epoch/names.ts";
import { startOwner, wake } from "../shared/epoch/wake.ts";
import type { Awakener } from "./deployment.ts";
import type { Call } from "./handler.ts";
import { type Observe, observeStatus } from "./metrics.ts";
import { type TriggerEvent, type WakeUp, wakeUpsOf } from "./wake-up.ts";

type Outcome = Awaited<ReturnType<typeof wake>> | "foreign";

/** Wakes the coordinator (I7). It throws if it could not start an execution, so that whatever has invoked it does so again. */
export async function triggerStep(awakener: Awakener, event: TriggerEvent, { observe }: Call) {
  const outcomes: Outcome[] = [];
  for (const wakeUp of wakeUpsOf(event)) outcomes.push(await serve(awakener, wakeUp, observe));
  observe("Wakes", outcomes.length);
  return { outcomes };
}

async function serve(awakener: Awakener, wakeUp: WakeUp, observe: Observe): Promise<Outcome> {
  if (wakeUp.kind === "wake") return await woken(awakener, null, observe);
  if (wakeUp.kind === "start") {
    await startOwner(awakener, wakeUp.name);
    return "started";
  }
  // The event is the proof that this execution is over; one of another name is no owner of this lease.
  const over = runOf(awakener.pipeline, awakener.uid, wakeUp.name);
  return over === undefined ? "foreign" : await woken(awakener, over, observe);
}

async function woken(awakener: Awakener, over: number | null, observe: Observe): Promise<Outcome> {
  const outcome = await wake(awakener, over);
  if (outcome === "counted") await observeStatus(awakener, observe);
  else observe("Stopped", 0);
  return outcome;
}
