import { runOf } from "../../epoch/names.ts";
import type { Json } from "../../json.ts";
import { coordinator } from "../../machine/coordinator.ts";
import { type Host, interpret, StateError } from "../../machine/interpreter.ts";
import type { FunctionName, Functions } from "./functions.ts";
import type { Nature } from "./sandbox.ts";

interface Execution {
  status: "running" | "over";
  endedAt: number;
}

/** Made anew each time: one for all would keep whatever ever waited for it. */
const never = () => new Promise<never>(() => {});
/** How long an execution that is over may still be described as running. */
const describeLagMs = 120_000;

/** Step Functions: starts executions by name, and says of a name what it thinks of it. What it does here is an effect; `Sandbox.call` makes calls of it. */
export class SimulatedExecutions {
  readonly #nature: Nature;
  readonly #functions: Functions;
  readonly #pipeline: { readonly name: string; readonly uid: string };
  /** Called when an execution ended badly: the rule. */
  readonly #endedBadly: (run: number, name: string) => void;
  readonly #all = new Map<string, Execution>();

  constructor(
    nature: Nature,
    functions: Functions,
    pipeline: { name: string; uid: string },
    endedBadly: (run: number, name: string) => void,
  ) {
    this.#nature = nature;
    this.#functions = functions;
    this.#pipeline = pipeline;
    this.#endedBadly = endedBadly;
  }

  start(name: string): "started" | "exists" {
    const there = this.#all.get(name);
    if (there) {
      // StartExecution is idempotent while the first runs: it answers like the first time.
      const site = `${name} started again ${this.#nature.scheduler.now}`;
      const isRunning = there.status === "running";
      return isRunning && this.#nature.faults.hits("start answers as if it were the first", site)
        ? "started"
        : "exists";
    }
    const execution: Execution = { status: "running", endedAt: 0 };
    this.#all.set(name, execution);
    this.#nature.note(`execution ${name} starts`);
    const host = this.#hostOf(name, execution);
    interpret(coordinator, { Execution: { Name: name } }, {}, host).then(
      () => this.#end(name, execution, "ends"),
      (error: unknown) => {
        this.#mayFail(name, error, host.failed);
        this.#end(name, execution, "fails");
      },
    );
    return "started";
  }

  describe(name: string): "running" | "over" | "missing" {
    const execution = this.#all.get(name);
    if (!execution) return "missing";
    const { scheduler, faults } = this.#nature;
    const isRecent = execution.status === "over" && scheduler.now - execution.endedAt < describeLagMs;
    const site = `${name} described ${scheduler.now}`;
    return isRecent && faults.hits("execution described as running", site) ? "running" : execution.status;
  }

  isKnown(name: string): boolean {
    return this.#all.has(name);
  }

  running(): string[] {
    return [...this.#all].flatMap(([name, { status }]) => (status === "running" ? [name] : []));
  }

  state(): Json {
    return [...this.#all].map(([name, { status, endedAt }]): Json => [name, status, endedAt]);
  }

  /** Every branch of the coordinator catches everything, since it would cancel its sibling; but for what it does last. */
  #mayFail(name: string, error: unknown, state: string | undefined): void {
    if (!(error instanceof StateError)) this.#nature.violated("code", String(error));
    else if (state !== "Start owner")
      this.#nature.violated("coordinator", `${name} fails: nothing catches ${error.error} of ${state}`);
  }

  #hostOf(name: string, execution: Execution): Host & { readonly failed: string | undefined } {
    const { scheduler, chance, faults } = this.#nature;
    let steps = 0;
    let failed: string | undefined;
    const step = () => {
      const site = `${name} step ${++steps}`;
      if (!faults.hits("execution dies", site)) return;
      scheduler.step(site, chance.magnitude(site, 1, 10_000), () => this.#end(name, execution, "dies"));
    };
    const unlessOver = async <T>(result: Promise<T>): Promise<T> => {
      try {
        return await result;
      } finally {
        if (execution.status === "over") await never();
      }
    };
    return {
      get failed() {
        return failed;
      },
      task: (state, input, timeoutSeconds) => {
        step();
        const answer = this.#functions.invoke(state as FunctionName, input, timeoutSeconds);
        this.#remember(name, state, input, answer);
        answer.catch(() => {
          failed = state;
        });
        return unlessOver(answer);
      },
      wait: (seconds) => {
        step();
        return unlessOver(scheduler.sleep(seconds * 1000, `${name} waits`));
      },
    };
  }

  /** What an execution is at follows from what its tasks answered since Plan: in any order, but for failures. */
  #remember(name: string, state: string, input: Json, answer: Promise<Json>): void {
    const { memory } = this.#nature;
    if (state === "Plan") memory.forgets(name);
    answer.then(
      (given) => memory.learns(name, () => [state, input, given], true),
      (error: StateError) => memory.learns(name, () => [state, input, error.error, error.message]),
    );
  }

  #end(name: string, execution: Execution, how: "ends" | "fails" | "dies"): void {
    if (execution.status === "over") return;
    execution.status = "over";
    this.#nature.memory.forgets(name);
    execution.endedAt = this.#nature.scheduler.now;
    this.#nature.note(`execution ${name} ${how}`);
    if (how !== "ends") this.#endedBadly(runOf(this.#pipeline.name, this.#pipeline.uid, name)!, name);
  }
}
