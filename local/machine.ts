import { readFileSync } from "node:fs";
import { StateMachine } from "aws-local-stepfunctions";
import { type AbortInput, abort } from "../shared/epoch/abort.ts";
import { commit, seal } from "../shared/epoch/commit.ts";
import { decide } from "../shared/epoch/decide.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { runOf } from "../shared/epoch/names.ts";
import type { OperateOutcome } from "../shared/epoch/operate.ts";
import { type PlanAnswer, plan, type TaskName } from "../shared/epoch/plan.ts";
import { startOwner } from "../shared/epoch/wake.ts";
import type { EpochId } from "../shared/ports/ledger.ts";

/** The one definition of the coordinator; on AWS the placeholders become functions, here handlers go by the names of its states. */
const definition = JSON.parse(readFileSync(new URL("../statemachines/checkpoint.asl.json", import.meta.url), "utf8"));

/** Milliseconds that the machine's fixed waits take here: a person is looking on. */
const waitTimeOverrides = { "Plan failed": 100, "Commit failed": 200, "Abort failed": 200 };
const retryIntervalOverrides = { Operate: 50, Abort: 50, "Start owner": 50 };

/** How long a wait goes on after Ctrl-C at most. */
const mostInattentiveMs = 100;

/** The functions that the state machine calls, by the names of its states. */
export type Handlers = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/** @param waiting is told how long a wait will be */
export function handlersOf(
  engine: Engine,
  operate: (name: TaskName) => Promise<OperateOutcome>,
  waiting?: (seconds: number) => void,
): Handlers {
  return {
    Plan: async ({ execution }: { execution: string }) =>
      await waited(
        engine,
        await plan(engine, { run: runOf(engine.topology.name, engine.uid, execution) ?? 0 }),
        waiting,
      ),
    Operate: async (name: TaskName) => ({ outcome: await operate(name) }),
    Decide: async (id: EpochId) => ({ outcome: await decide(engine, id) }),
    Commit: async (input: { epoch: number; sink: string }) => ({ outcome: await commit(engine, input) }),
    Seal: async (input: { epoch: number }) => ({ outcome: await seal(engine, input) }),
    Abort: async (input: AbortInput) => await abort(engine, input),
    "Start owner": async ({ start }: { start: string }) =>
      await startOwner({ ...engine, pipeline: engine.topology.name }, start),
  };
}

/** The state machine waits for whole seconds, whatever comes. Here a person is looking on: fractions count, and so does Ctrl-C. */
async function waited(
  { clock, policy }: Engine,
  answer: PlanAnswer,
  waiting: ((seconds: number) => void) | undefined,
): Promise<PlanAnswer> {
  if (answer.action !== "wait") return answer;
  waiting?.(answer.seconds);
  const until = clock.now() + answer.seconds * 1000;
  for (let left = until - clock.now(); left > 0 && !policy.draining(); left = until - clock.now())
    await clock.sleep(Math.min(left, mostInattentiveMs));
  return { action: "again" };
}

/** Interprets the state machine under an execution's name. */
export function interpret(name: string, handlers: Handlers): { result: Promise<void>; abort(): void } {
  const machine = new StateMachine(definition, { validationOptions: { noValidate: true } });
  const taskResourceLocalHandlers = Object.fromEntries(
    Object.entries(handlers).map(([state, handler]) => [
      state,
      async (input: unknown) => (await handler(input as never)) ?? null,
    ]),
  );
  const execution = machine.run({}, {
    overrides: { taskResourceLocalHandlers, waitTimeOverrides, retryIntervalOverrides },
    context: { Execution: { Name: name } },
    noThrowOnAbort: true,
  } as Parameters<typeof machine.run>[1]);
  void discard(execution.eventLogs);
  return { result: execution.result.then(() => undefined), abort: execution.abort };
}

/** The interpreter keeps an execution's events until they are read. */
async function discard(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}
