/** What is told of state transitions is what the state machine goes through, counted by the interpreter. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { StateMachine } from "aws-local-stepfunctions";
import type { PlanAnswer, Work } from "../shared/epoch/plan.ts";
import { transitionsAfter } from "./transitions.ts";

const definition = JSON.parse(readFileSync(new URL("../statemachines/checkpoint.asl.json", import.meta.url), "utf8"));

/** States entered by an execution in which `Plan`, and then each `Fused`, answers the next of these. */
async function entered(answers: readonly PlanAnswer[]): Promise<number> {
  const left = [...answers];
  const next = async () => left.shift();
  const nothing = async () => ({});
  const decided = async () => ({ outcome: "decided" });
  const others = { Operate: nothing, Commit: nothing, Seal: nothing, "Start owner": nothing, Decide: decided };
  const execution = new StateMachine(definition, { validationOptions: { noValidate: true } }).run({}, {
    overrides: {
      taskResourceLocalHandlers: { ...others, Plan: next, Fused: next },
      waitTimeOverrides: { Wait: 0, "Wait for fused": 0 },
    },
    context: { Execution: { Name: "run" } },
  } as Parameters<StateMachine["run"]>[1]);
  let count = 0;
  for await (const { type } of execution.eventLogs) if (type === "StateEntered") count++;
  await execution.result;
  return count;
}

const end: PlanAnswer = { action: "end" };
const task = { epoch: 1, attempt: 1, stage: 0, task: 0 };
const commit: Work["commit"] = {
  epoch: 1,
  tasks: [
    { epoch: 1, sink: "a" },
    { epoch: 1, sink: "b" },
  ],
  retrySeconds: 1,
};
const process: Work["process"] = { epoch: 2, attempt: 1, stages: [{ tasks: [task, task, task] }, { tasks: [task] }] };

const cases: Readonly<Record<string, readonly PlanAnswer[]>> = {
  nothing: [end],
  "an owner to start": [{ action: "end", start: "run-2" }],
  "a wait": [{ action: "wait", seconds: 1 }, end],
  "a plan again": [{ action: "again" }, end],
  "an epoch to process": [{ action: "work", process }, end],
  "an epoch to commit": [{ action: "work", commit }, end],
  both: [{ action: "work", commit, process }, { action: "work", commit: { ...commit, tasks: [] } }, end],
  "fused epochs": [{ action: "fused", process }, { action: "fused", commit }, { action: "wait", seconds: 1 }, end],
  "a wait between fused epochs": [{ action: "fused", process }, { action: "wait", seconds: 1, fused: true }, end],
};

for (const [what, answers] of Object.entries(cases))
  test(what, async () => {
    // Each answer is that of one state, `Plan` or `Fused`.
    const told = answers.reduce((sum, answer) => sum + 1 + transitionsAfter(answer), 0);
    assert.equal(told, await entered(answers));
  });
