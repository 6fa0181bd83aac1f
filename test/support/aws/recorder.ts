import type { HistoryEvent, SFNClient } from "@aws-sdk/client-sfn";
import type { FunctionName } from "../../../infra/bundle.ts";
import type { PlanAnswer } from "../../../shared/epoch/plan.ts";
import { executionsOf, historyOf } from "./history.ts";
import type { PipelineParts } from "./pipeline-stack.ts";

/** An invocation of a function by the state machine. */
export interface Call {
  readonly name: FunctionName;
  readonly input: object;
}

interface Progress {
  /** The next event to read. */
  next: number;
  /** What the last plan has answered. */
  answer: PlanAnswer | undefined;
}

/** Reads the histories of all executions of a state machine, as they grow: what functions were invoked with, and how invocations failed. */
export class Recorder {
  readonly calls: Call[] = [];
  /** Why tasks of the state machine failed, or other invocations. */
  readonly failures: string[] = [];
  readonly #client: SFNClient;
  readonly #parts: PipelineParts;
  readonly #progress = new Map<string, Progress>();

  constructor(client: SFNClient, parts: PipelineParts) {
    this.#client = client;
    this.#parts = parts;
  }

  get throttles(): number {
    return this.failures.filter((failure) => failure.includes("TooManyRequests")).length;
  }

  /** Reads what is new. */
  async look(): Promise<void> {
    for (const { executionArn, name, status } of await executionsOf(this.#client, this.#parts.stateMachine)) {
      const progress = this.#progress.get(executionArn!) ?? { next: 1, answer: undefined };
      if (progress.next === Number.POSITIVE_INFINITY) continue;
      this.#progress.set(executionArn!, progress);
      for (const event of await historyOf(this.#client, executionArn!, progress.next)) {
        this.#record(name!, event, progress);
        progress.next = event.id! + 1;
      }
      // What a stopped execution has begun goes on for a while.
      if (status === "SUCCEEDED") progress.next = Number.POSITIVE_INFINITY;
    }
  }

  #record(execution: string, event: HistoryEvent, progress: Progress): void {
    const { name: state, input = "{}" } = event.stateEnteredEventDetails ?? {};
    if (state === "Plan") this.calls.push({ name: "plan", input: { execution } });
    if (state === "Fused") this.calls.push({ name: "fused", input: { execution, answer: JSON.parse(input) } });
    if (state === "Work") this.#recordWork(JSON.parse(input), progress);
    if (event.taskScheduledEventDetails?.resource?.endsWith(`:${this.#parts.functions.abort}`))
      this.#recordAbort(progress);
    const cause = event.taskFailedEventDetails?.cause;
    if (cause !== undefined) this.failures.push(cause);
  }

  /** The emulator tells of states within others only that there were some. */
  #recordWork(answer: Extract<PlanAnswer, { action: "work" | "fused" }>, progress: Progress): void {
    progress.answer = answer;
    const { commit, process } = answer;
    for (const input of commit?.tasks ?? []) this.calls.push({ name: "commit", input });
    if (commit) this.calls.push({ name: "commit", input: { epoch: commit.epoch } });
    for (const { tasks } of process?.stages ?? [])
      for (const input of tasks) this.calls.push({ name: "operate", input });
    if (process) this.calls.push({ name: "decide", input: { epoch: process.epoch, attempt: process.attempt } });
  }

  #recordAbort({ answer }: Progress): void {
    if (answer === undefined || !("process" in answer) || !answer.process) return;
    const { epoch, attempt } = answer.process;
    this.calls.push({ name: "abort", input: { epoch, attempt, failure: { Error: "States.TaskFailed", Cause: "" } } });
  }
}
