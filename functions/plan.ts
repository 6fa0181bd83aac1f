import { runOf } from "../shared/epoch/names.ts";
import { type PlanAnswer, plan } from "../shared/epoch/plan.ts";
import type { Deployment } from "./deployment.ts";
import { handlerOf } from "./handler.ts";
import { observeLag } from "./metrics.ts";

/** State `Plan`: what the execution of this name does next. */
export const planHandler = (deployment: Deployment) =>
  handlerOf("plan", deployment, async ({ execution }: { readonly execution: string }, { observe }) => {
    const engine = await deployment.engine();
    const run = runOf(engine.topology.name, engine.uid, execution) ?? 0;
    return inWholeSeconds(await plan({ ...engine, source: observeLag(engine.source, observe) }, { run }));
  });

/** Step Functions waits for whole seconds only. */
function inWholeSeconds(answer: PlanAnswer): PlanAnswer {
  return answer.action === "wait" ? { ...answer, seconds: Math.ceil(answer.seconds) } : answer;
}
