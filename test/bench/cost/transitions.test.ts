import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { HistoryEvent } from "@aws-sdk/client-sfn";
import { type Machine, transitionsOf } from "./transitions.ts";

const file = new URL("../../../statemachines/checkpoint.asl.json", import.meta.url);
const machine: Machine = JSON.parse(readFileSync(file, "utf8"));

const timestamp = new Date(1_000);
const entered = (name: string, input: object = {}): HistoryEvent => ({
  ...{ id: 0, type: "TaskStateEntered", timestamp },
  stateEnteredEventDetails: { name, input: JSON.stringify(input) },
});
const scheduled = { id: 0, type: "TaskScheduled", timestamp } satisfies HistoryEvent;

const task = { epoch: 2, attempt: 1, stage: 0, task: 0 };
const commit = { epoch: 1, tasks: [{ epoch: 1, sink: "counts" }], retrySeconds: 1 };
const statesOf = (history: readonly HistoryEvent[]) => transitionsOf(history, machine).map(({ state }) => state);

test("each state entered is a transition, within branches and iterations too", () => {
  const process = { epoch: 2, attempt: 1, stages: [{ tasks: [task, task] }, { tasks: [task] }] };
  const history = [entered("Work", { commit, process }), ...Array.from({ length: 6 }, () => scheduled)];
  assert.deepEqual(statesOf(history), [
    "Work",
    ...["Anything to commit?", "Commit sinks", "Commit", "Seal"],
    ...["Anything to process?", "Stages", "Tasks", "Operate", "Operate", "Tasks", "Operate"],
    ...["Decide", "Decided?", "Decided"],
  ]);
});

test("what is not there is passed by", () => {
  const history = [entered("Plan"), scheduled, entered("What next?"), entered("Work", {})];
  const work = ["Work", "Anything to commit?", "Nothing to commit", "Anything to process?", "Nothing to process"];
  assert.deepEqual(statesOf(history), ["Plan", "What next?", ...work]);
});

test("a retry is a transition", () => {
  assert.deepEqual(statesOf([entered("Plan"), scheduled, scheduled]), ["Plan", "a retry"]);
});
