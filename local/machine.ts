import { setTimeout as sleep } from "node:timers/promises";
import { type AbortInput, abort } from "../shared/epoch/abort.ts";
import { commit, seal } from "../shared/epoch/commit.ts";
import { decide } from "../shared/epoch/decide.ts";
import type { Engine } from "../shared/epoch/engine.ts";
import { runOf } from "../shared/epoch/names.ts";
import type { OperateOutcome } from "../shared/epoch/operate.ts";
import { type PlanAnswer, plan, type TaskName } from "../shared/epoch/plan.ts";
import { startOwner } from "../shared/epoch/wake.ts";
import type { Json } from "../shared/json.ts";
import { coordinator } from "../shared/machine/coordinator.ts";
import { type Host, interpret as run, StateError } from "../shared/machine/interpreter.ts";
import type { EpochId } from "../shared/ports/ledger.ts";

/** Milliseconds that fixed waits, and those before a state is tried again, take here: a person is looking on. */
const shortWaits: Readonly<Record<string, number>> = {
  ...{ "Plan failed": 100, "Commit failed": 200, "Abort failed": 200 },
  ...{ Operate: 50, Abort: 50, "Start owner": 50 },
};

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

/** Interprets the state machine under an execution's name. Once aborted, it calls nothing any more, and its result never comes. */
export function interpret(name: string, handlers: Handlers): { result: Promise<void>; abort(): void } {
  const stop = new AbortController();
  const { signal } = stop;
  const host: Host = {
    task: (state, input, timeoutSeconds) =>
      signal.aborted ? never() : inTime(state, () => handlers[state]!(input as never), timeoutSeconds * 1000, signal),
    wait: (seconds, state) => sleep(shortWaits[state] ?? seconds * 1000, undefined, { signal }).catch(never),
  };
  const result = run(coordinator, { Execution: { Name: name } }, {}, host).then(() => undefined);
  return { result, abort: () => stop.abort() };
}

const never = () => new Promise<never>(() => {});

/** As a function is invoked: its exception is an error of its state, and so is an answer that does not come. */
async function inTime(
  state: string,
  call: () => Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Json> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StateError("States.Timeout", `${state} took too long`)), timeoutMs);
  // Nobody waits for what an execution that was given up has called: it must not keep the process alive.
  const release = () => clearTimeout(timer);
  signal.addEventListener("abort", release);
  try {
    return ((await Promise.race([call(), late])) ?? null) as Json;
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw new StateError((error as Error).name, (error as Error).message);
  } finally {
    release();
    signal.removeEventListener("abort", release);
  }
}
