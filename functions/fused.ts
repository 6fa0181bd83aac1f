import { fused } from "../shared/epoch/fused.ts";
import type { PlanAnswer } from "../shared/epoch/plan.ts";
import { abortAttemptStep } from "./abort.ts";
import { commitStep } from "./commit.ts";
import { decideStep } from "./decide.ts";
import type { Step } from "./handler.ts";
import { operateStep } from "./operate.ts";
import { inWholeSeconds, planned } from "./plan.ts";
import { transitionsAfter } from "./transitions.ts";

/** Execution's name, and what `Plan` has answered. */
export interface FusedInput {
  readonly execution: string;
  readonly answer: PlanAnswer;
}

/** What Step Functions takes for a state transition, Lambda takes for so many seconds of a GB (docs/costs.md). */
const gbSecondsOfATransition = 0.000025 / 0.0000133334;

/** "Wait for fused", "Fused" and "What next?". */
const transitionsOfAWait = 3;

/** Up to here it is cheaper to sleep in a function of so much memory than to wait in the state machine. */
export function mostSecondsToSleep(memoryMiB: number): number {
  return (transitionsOfAWait * gbSecondsOfATransition) / (memoryMiB / 1024);
}

/** State `Fused`: several epochs of one task each, with the steps of the other functions. Its answer is that of the last plan. */
export const fusedStep: Step<FusedInput, PlanAnswer> = async (engine, { execution, answer }, call) => {
  const part =
    <Input extends object, Answer>(name: string, step: Step<Input, Answer>) =>
    (input: Input) =>
      call.part(name, input, (given, inner) => step(engine, given, inner));
  const plan = part("plan", planned);
  const steps = {
    plan: (sleepsSeconds: number) => plan({ execution, fused: { sleepsSeconds } }),
    operate: part("operate", operateStep),
    decide: part("decide", decideStep),
    commit: part("commit", commitStep),
    abort: part("abort", abortAttemptStep),
  };
  const memoryMiB = Number(call.context.memoryLimitInMB);
  const last = await fused(steps, engine.clock, answer, { mostSecondsToSleep: mostSecondsToSleep(memoryMiB) });
  call.observe("StateTransitions", 1 + transitionsAfter(last));
  return inWholeSeconds(last);
};
