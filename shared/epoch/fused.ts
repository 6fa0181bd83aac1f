import type { Clock } from "../ports/clock.ts";
import type { AbortAnswer, AbortInput } from "./abort.ts";
import type { PlanAnswer, TaskName, Work } from "./plan.ts";

/** What the functions of the state machine do, here one after the other in one of them. */
export interface Steps {
  /** @param sleepsSeconds a wait up to this is slept here, and the state machine sees nothing of it */
  plan(sleepsSeconds: number): Promise<PlanAnswer>;
  operate(name: TaskName): Promise<unknown>;
  decide(id: { readonly epoch: number; readonly attempt: number }): Promise<{ readonly outcome: string }>;
  commit(input: { readonly epoch: number; readonly sink?: string }): Promise<unknown>;
  abort(input: AbortInput): Promise<AbortAnswer>;
}

/** Milliseconds that an invocation goes on: so long may old code work on after a deployment, and a state more each such time is what it costs. */
const defaultSpanMs = 60_000;

export interface FusedOptions {
  /** Milliseconds after which no epoch begins; a minute by default. */
  readonly spanMs?: number;
  /** A longer wait costs less in the state machine. */
  readonly mostSecondsToSleep: number;
}

/**
 * Several small epochs in one invocation (protocol §6, Elastic): what the state machine does from one plan to the next, by the same verbs in the same order,
 * until something comes that is better done by the machine: an epoch of several tasks, a failure, a long wait, the end. That is the answer, as `plan` would
 * give it. After a wait that `plan` wants, and no failure, it is for this to go on: the answer says so (`fused`). However it is cut short, the next plan goes on
 * from the ledger, as after any failure.
 *
 * @param answer what `plan` has said, or the wait with which this was left
 */
export async function fused(
  steps: Steps,
  clock: Clock,
  answer: PlanAnswer,
  { spanMs = defaultSpanMs, mostSecondsToSleep }: FusedOptions,
): Promise<PlanAnswer> {
  const until = clock.now() + spanMs;
  let sleepsSeconds = mostSecondsToSleep;
  let next = answer.action === "wait" ? await steps.plan(sleepsSeconds) : answer;
  for (;;) {
    const isLate = clock.now() >= until;
    if (next.action === "wait" && !(next.seconds <= sleepsSeconds)) return { ...next, fused: true };
    if (isLate && next.action !== "wait") return next;
    if (next.action === "fused") {
      const seconds = await round(steps, next);
      // Also after a loss to a twin of this invocation: two that went on side by side would fence each other's attempts.
      if (seconds !== undefined) return { action: "wait", seconds };
    } else if (next.action === "wait") await clock.sleep(next.seconds * 1000);
    else if (next.action !== "again") return next;
    sleepsSeconds = clock.now() < until ? mostSecondsToSleep : 0;
    next = await steps.plan(sleepsSeconds);
  }
}

/** Seconds to wait after a failure; undefined: there was none. */
type Result = number | undefined;

/** As the state `Work`: one epoch is committed while the next is processed, and neither disturbs the other. */
async function round(steps: Steps, { commit, process }: Work): Promise<Result> {
  const [one, other] = await Promise.all([commit && committed(steps, commit), process && processed(steps, process)]);
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

async function committed(steps: Steps, { epoch, tasks, retrySeconds }: Required<Work>["commit"]): Promise<Result> {
  try {
    await Promise.all(tasks.map((task) => steps.commit(task)));
    await steps.commit({ epoch });
    return undefined;
  } catch {
    return retrySeconds;
  }
}

async function processed(steps: Steps, { epoch, attempt, stages }: Required<Work>["process"]): Promise<Result> {
  const failure = await failureOf(steps, stages[0]!.tasks[0]!);
  return failure && (await steps.abort({ epoch, attempt, failure })).waitSeconds;
}

async function failureOf(steps: Steps, task: TaskName): Promise<AbortInput["failure"] | undefined> {
  try {
    await steps.operate(task);
    const { outcome } = await steps.decide({ epoch: task.epoch, attempt: task.attempt });
    return outcome === "decided" ? undefined : { outcome };
  } catch (error) {
    return { Error: (error as Error).name, Cause: (error as Error).message };
  }
}
