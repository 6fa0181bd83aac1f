import { runOf } from "../shared/epoch/names.ts";
import { type Asking, type PlanAnswer, plan } from "../shared/epoch/plan.ts";
import type { Step } from "./handler.ts";
import { observeLag, observePlan } from "./metrics.ts";
import { transitionsAfter } from "./transitions.ts";

export interface PlanInput {
  readonly execution: string;
}

/** State `Plan`: what the execution of this name does next. */
export const planStep: Step<PlanInput, PlanAnswer> = async (engine, input, call) => {
  const answer = await planned(engine, input, call);
  call.observe("StateTransitions", 1 + transitionsAfter(answer));
  return inWholeSeconds(answer);
};

/** Also asked by the function `fused`. */
export const planned: Step<PlanInput & Pick<Asking, "fused">, PlanAnswer> = async (
  engine,
  { execution, fused },
  { observe },
) => {
  const run = runOf(engine.topology.name, engine.uid, execution) ?? 0;
  const answer = await plan(
    { ...engine, source: observeLag(engine.source, observe) },
    { run, ...(fused && { fused }) },
  );
  await observePlan(engine, answer, observe);
  return answer;
};

/** Step Functions waits for whole seconds only. */
export function inWholeSeconds(answer: PlanAnswer): PlanAnswer {
  return answer.action === "wait" ? { ...answer, seconds: Math.ceil(answer.seconds) } : answer;
}
