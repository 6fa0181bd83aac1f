import { type AbortInput, abort, abortUnfinished, type Failed } from "../../epoch/abort.ts";
import { collect, type Retention } from "../../epoch/collect.ts";
import { commit, seal } from "../../epoch/commit.ts";
import { decide } from "../../epoch/decide.ts";
import type { Engine } from "../../epoch/engine.ts";
import { fused } from "../../epoch/fused.ts";
import { runOf } from "../../epoch/names.ts";
import { operate } from "../../epoch/operate.ts";
import { type Asking, type PlanAnswer, plan, type TaskName } from "../../epoch/plan.ts";
import { startOwner, wake } from "../../epoch/wake.ts";
import { EpochflowError } from "../../errors.ts";
import { InvariantError } from "../../invariant.ts";
import type { Json } from "../../json.ts";
import { StateError } from "../../machine/interpreter.ts";
import type { EpochId } from "../../ports/ledger.ts";
import { type Nature, Sandbox } from "./sandbox.ts";

/** `report` is for errors that a handler itself catches. */
type Handler = (engine: Engine, input: never, report: (error: unknown) => void) => Promise<unknown>;

/** What the functions do, by the names of the machine's states; and those that it does not call. */
const steps = {
  Plan: (engine, { execution, fused }: { execution: string } & Pick<Asking, "fused">) =>
    plan(engine, { run: runOf(engine.topology.name, engine.uid, execution) ?? 0, ...(fused && { fused }) }),
  Operate: async (engine, name: TaskName) => ({ outcome: await operate(engine, name) }),
  Decide: async (engine, id: EpochId) => ({ outcome: await decide(engine, id) }),
  Commit: async (engine, input: { epoch: number; sink: string }) => ({ outcome: await commit(engine, input) }),
  Seal: async (engine, input: { epoch: number }) => ({ outcome: await seal(engine, input) }),
  Abort: (engine, input: AbortInput) => abort(engine, input),
  "Abort unfinished": (engine, failed: Failed) => abortUnfinished(engine, failed),
  "Start owner": (engine, { start }: { start: string }) =>
    startOwner({ ...engine, pipeline: engine.topology.name }, start),
  Wake: (engine, { over }: { event: string; over: number | null }) =>
    wake({ ...engine, pipeline: engine.topology.name }, over),
  Collect: (engine, retention: Retention & { sweep: number }) => collect(engine, retention),
} satisfies Record<string, Handler>;

export const handlers = { ...steps, Fused: runFused } satisfies Record<string, Handler>;
export type FunctionName = keyof typeof handlers;

/** Shorter than the waits of some plans, so that both ways are taken. */
const mostSecondsToSleep = 5;

/** Each step may fail within, without the invocation that it is part of. */
async function runFused(
  engine: Engine,
  { execution, answer }: { execution: string; answer: PlanAnswer },
  report: (error: unknown) => void,
): Promise<PlanAnswer> {
  const step =
    <Input, Answer>(handler: (engine: Engine, input: Input) => Promise<Answer>) =>
    async (input: Input): Promise<Answer> => {
      try {
        return await handler(engine, input);
      } catch (error) {
        report(error);
        throw error;
      }
    };
  const plan = step(steps.Plan);
  const commit = step(steps.Commit);
  const seal = step(steps.Seal);
  const verbs = {
    plan: (sleepsSeconds: number) => plan({ execution, fused: { sleepsSeconds } }),
    operate: step(steps.Operate),
    decide: step(steps.Decide),
    commit: ({ epoch, sink }: { epoch: number; sink?: string }) =>
      sink === undefined ? seal({ epoch }) : commit({ epoch, sink }),
    abort: step(steps.Abort),
  };
  return await fused(verbs, engine.clock, answer, { mostSecondsToSleep });
}

/** Which function each state is; those that are one share their sandboxes. */
const functionOf: Readonly<Record<FunctionName, string>> = {
  Plan: "plan",
  Fused: "fused",
  Operate: "operate",
  Decide: "decide",
  Commit: "commit",
  Seal: "commit",
  Abort: "abort",
  "Abort unfinished": "abort",
  "Start owner": "trigger",
  Wake: "trigger",
  Collect: "collect",
};

/** Lambda: runs functions in sandboxes, sometimes twice, sometimes too late, sometimes without telling how it ended. */
export class Functions {
  readonly #nature: Nature;
  readonly #compose: (sandbox: Sandbox) => Engine;
  /** Idle sandboxes by function. */
  readonly #idle = new Map<string, Sandbox[]>();
  readonly #made = new Map<string, number>();
  readonly #invoked = new Map<string, number>();
  /** Version of the code that each function has now. */
  readonly #deployed = new Map<string, number>();

  constructor(nature: Nature, compose: (sandbox: Sandbox) => Engine) {
    this.#nature = nature;
    this.#compose = compose;
  }

  /** Gives all functions new code, one after the other. What runs already goes on with the old. */
  deploy(version: number): void {
    const { scheduler, chance } = this.#nature;
    for (const name of new Set(Object.values(functionOf)))
      scheduler.after(chance.magnitude(`deploy ${version} ${name}`, 1, 3000), () => {
        if (version <= this.#version(name)) return;
        this.#deployed.set(name, version);
        this.#idle.delete(name);
      });
  }

  /** The answer, as the state machine gets it. Rejects with `StateError`. */
  async invoke(state: FunctionName, input: Json, timeoutSeconds: number): Promise<Json> {
    const { scheduler, chance, faults } = this.#nature;
    const key = `${state} ${keyOf(input)}`;
    const nth = (this.#invoked.get(key) ?? 0) + 1;
    this.#invoked.set(key, nth);
    const name = nth === 1 ? key : `${key} ~${nth}`;
    return await new Promise<Json>((settle, refuse) => {
      const timeout = scheduler.after(timeoutSeconds * 1000, () => fail("States.Timeout", ""), `${name} times out`);
      const resolve = (answer: Json) => {
        timeout();
        settle(answer);
      };
      const reject = (error: unknown) => {
        timeout();
        refuse(error);
      };
      const fail = (error: string, cause: string) => reject(new StateError(error, cause));
      if (faults.hits("invocation never begins", name)) {
        scheduler.after(chance.magnitude(name, 1, 1000), () => fail("Lambda.Throttled", "on purpose"));
        return;
      }
      const begin = (suffix: string) => this.#run(state, input, `${name}${suffix}`);
      const givenUp = (error: string) => () => fail(error, "on purpose");
      if (faults.hits("invocation given up, and goes on", name))
        scheduler.step(`${name} given up`, chance.magnitude(`${name} given up`, 1, 10_000), givenUp("Lambda.Unknown"));
      if (faults.hits("invocation times out, and goes on", name))
        scheduler.step(`${name} given up`, chance.magnitude(`${name} timed out`, 1, 10_000), givenUp("States.Timeout"));
      begin("").then(resolve, reject);
      if (faults.hits("invocation doubled at once", name)) begin(" (twin)").then(resolve, reject);
      if (faults.hits("invocation comes again later", name))
        scheduler.step(
          `${name} (again)`,
          chance.magnitude(`${name} again`, 100, 80_000_000),
          () => void begin(" (again)").catch(() => {}),
          { isLate: true },
        );
    });
  }

  /** Rejects if it fails or its sandbox dies. */
  async #run(state: FunctionName, input: Json, name: string): Promise<Json> {
    const sandbox = this.#take(functionOf[state], name);
    sandbox.begin(name);
    this.#nature.note(`${name} begins`);
    const crashed = new Promise<never>((_, reject) => {
      sandbox.onCrash = () => reject(new StateError("Lambda.Unknown", "the process died"));
    });
    crashed.catch(() => {});
    const report = (error: unknown) => {
      if (error instanceof EpochflowError && !(error instanceof InvariantError)) return;
      this.#nature.violated("code", `${name}: ${error instanceof Error ? error.stack : String(error)}`);
    };
    try {
      sandbox.engine ??= this.#compose(sandbox);
      const handler = handlers[state] as Handler;
      const answer = await Promise.race([handler(sandbox.engine, input as never, report), crashed]);
      this.#nature.note(() => `${name} answers ${JSON.stringify(answer ?? null)}`);
      this.#nature.reached(`${state}: ${outcomeOf(answer)}`);
      return JSON.parse(JSON.stringify(answer ?? null));
    } catch (error) {
      if (error instanceof StateError) throw error;
      report(error);
      const { message } = error as Error;
      this.#nature.note(`${name} fails: ${message}`);
      throw new StateError((error as Error).name, message);
    } finally {
      if (sandbox.alive) this.#giveBack(functionOf[state], sandbox, name);
    }
  }

  #take(name: string, invocation: string): Sandbox {
    const idle = this.#idle.get(name) ?? [];
    const { chance, faults } = this.#nature;
    if (idle.length > 0 && !faults.hits("sandbox lost between invocations", invocation))
      return idle.splice(chance.below(`${invocation} sandbox`, idle.length), 1)[0]!;
    const number = (this.#made.get(name) ?? 0) + 1;
    this.#made.set(name, number);
    return new Sandbox(this.#nature, `${name}-${number}`, `code-${this.#version(name)}`);
  }

  /** Sandboxes that wait for an invocation, by function, and versions of the code. */
  state(): Json {
    const idle = [...this.#idle].map(([name, sandboxes]): Json => [name, ...sandboxes.map((one) => one.name)]);
    return [idle, [...this.#deployed].map((one) => [...one])];
  }

  #version(name: string): number {
    return this.#deployed.get(name) ?? 1;
  }

  #giveBack(name: string, sandbox: Sandbox, invocation: string): void {
    // Only workers keep anything: the state that they wrote or read last.
    if (name !== "operate" && name !== "fused") this.#nature.memory.forgets(sandbox.name);
    if (sandbox.invocation.name !== invocation) return;
    if (sandbox.codeDigest !== `code-${this.#version(name)}`) return;
    this.#idle.set(name, [...(this.#idle.get(name) ?? []), sandbox]);
  }
}

/** What an input is about, in few letters. */
function keyOf(input: Json): string {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return String(input);
  const { failure: _, answer: __, ...rest } = input as Record<string, Json>;
  return Object.values(rest).map(String).join(".");
}

function outcomeOf(answer: unknown): string {
  if (typeof answer === "string") return answer;
  const { outcome, action } = (answer ?? {}) as { outcome?: string; action?: string };
  return outcome ?? action ?? "done";
}
