import type { PlanAnswer } from "../shared/epoch/plan.ts";

/** From `What next?` on, which asks for the answer. */
const choice = 1;

/**
 * Steps of the state machine that follow from an answer of `Plan` or `Fused`, up to the next of the two and without it: what Step Functions bills as state
 * transitions. Nothing fails in it; CloudWatch has no such count for one state machine.
 */
export function transitionsAfter(answer: PlanAnswer): number {
  if (answer.action === "end") return choice + (answer.start === undefined ? 1 : 2);
  if (answer.action === "wait") return choice + 1;
  if (answer.action !== "work") return choice;
  const { commit, process } = answer;
  const tasks = process?.stages.map((stage) => stage.tasks.length) ?? [];
  // The map of the sinks, and Seal. The map of the stages, in each the map of its tasks; then Decide, the choice, and Decided.
  const committing = commit ? 1 + commit.tasks.length + 1 : 1;
  const processing = process ? 1 + tasks.reduce((sum, count) => sum + 1 + count, 0) + 3 : 1;
  // Work itself, and in each of its branches the choice whether there is anything.
  return choice + 1 + 2 + committing + processing;
}
