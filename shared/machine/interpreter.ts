/**
 * An interpreter of the part of the Amazon States Language that the coordinator is written in (states-language.net, 2016; JSONPath), whose waits and tasks
 * are somebody else's: the local runner's, and those of the simulator's scheduler. A test compares it with one that is not ours.
 */
import type { Json } from "../json.ts";

/** A failed task or state: what `Retry` and `Catch` match, and what a `Catch` hands on. */
export class StateError extends Error {
  readonly error: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.error = error;
  }
}

export interface Host {
  /** Runs a task; rejects with `StateError`. */
  task(state: string, input: Json, timeoutSeconds: number): Promise<Json>;
  /** In a state, or before it is tried again. Never resolves if the execution is over meanwhile. */
  wait(seconds: number, state: string): Promise<void>;
}

interface Rule {
  readonly ErrorEquals: readonly string[];
}
interface Retrier extends Rule {
  readonly IntervalSeconds?: number;
  readonly MaxAttempts?: number;
  readonly BackoffRate?: number;
}
interface Catcher extends Rule {
  readonly ResultPath?: string | null;
  readonly Next: string;
}
interface Condition {
  readonly Variable?: string;
  readonly StringEquals?: string;
  readonly IsPresent?: boolean;
  readonly And?: readonly Condition[];
}
interface State {
  readonly Type: "Task" | "Choice" | "Map" | "Parallel" | "Wait" | "Pass" | "Succeed";
  readonly Next?: string;
  readonly End?: boolean;
  readonly Parameters?: Readonly<Record<string, Json>>;
  readonly ResultPath?: string | null;
  readonly OutputPath?: string | null;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
  readonly Choices?: readonly (Condition & { readonly Next: string })[];
  readonly Default?: string;
  readonly ItemsPath?: string;
  readonly MaxConcurrency?: number;
  readonly Iterator?: Machine;
  readonly Branches?: readonly Machine[];
  readonly Seconds?: number;
  readonly SecondsPath?: string;
}
export interface Machine {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

/** Runs a machine to its end. Rejects with the `StateError` that nothing caught. */
export function interpret(machine: Machine, context: Json, input: Json, host: Host): Promise<Json> {
  return new Execution(context, host).run(machine, input, { cancelled: false });
}

/** Part of an execution that may be given up as a whole: a branch whose sibling failed. */
interface Scope {
  cancelled: boolean;
  readonly within?: Scope;
}

const isCancelled = (scope: Scope | undefined): boolean =>
  scope !== undefined && (scope.cancelled || isCancelled(scope.within));
/** Made anew each time: one for all would keep whatever ever waited for it. */
const never = () => new Promise<never>(() => {});

class Execution {
  readonly #context: Json;
  readonly #host: Host;

  constructor(context: Json, host: Host) {
    this.#context = context;
    this.#host = host;
  }

  async run(machine: Machine, input: Json, scope: Scope): Promise<Json> {
    let data = input;
    for (let name: string | undefined = machine.StartAt; name !== undefined; ) {
      const state: State | undefined = machine.States[name];
      if (!state) throw new StateError("States.Runtime", `there is no state ${name}`);
      const done = await this.#withRetries(name, state, data, scope);
      if (isCancelled(scope)) return await never();
      data = done.data;
      name = done.next;
    }
    return data;
  }

  async #withRetries(name: string, state: State, data: Json, scope: Scope): Promise<{ data: Json; next?: string }> {
    const tries = new Map<Retrier, number>();
    for (;;) {
      try {
        return await this.#enter(name, state, data, scope);
      } catch (error) {
        if (!(error instanceof StateError)) throw error;
        const retrier = state.Retry?.find((rule) => matches(rule, error));
        const tried = retrier ? (tries.get(retrier) ?? 0) : 0;
        if (retrier && tried < (retrier.MaxAttempts ?? 3)) {
          tries.set(retrier, tried + 1);
          await this.#host.wait((retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** tried, name);
          if (isCancelled(scope)) return await never();
          continue;
        }
        const catcher = state.Catch?.find((rule) => matches(rule, error));
        if (!catcher) throw error;
        const caught = { Error: error.error, Cause: error.message };
        return { data: place(data, catcher.ResultPath, caught), next: catcher.Next };
      }
    }
  }

  async #enter(name: string, state: State, data: Json, scope: Scope): Promise<{ data: Json; next?: string }> {
    if (state.Type === "Choice") {
      const chosen = state.Choices?.find((choice) => this.#holds(choice, data))?.Next ?? state.Default;
      if (chosen === undefined) throw new StateError("States.NoChoiceMatched", name);
      return { data, next: chosen };
    }
    const result = await this.#resultOf(name, state, this.#parameters(state, data), scope);
    const placed = state.Type === "Wait" || state.Type === "Succeed" ? data : place(data, state.ResultPath, result);
    const output = state.OutputPath === null ? {} : placed;
    return { data: output, ...(state.Next !== undefined && { next: state.Next }) };
  }

  async #resultOf(name: string, state: State, input: Json, scope: Scope): Promise<Json> {
    switch (state.Type) {
      case "Task":
        return await this.#host.task(name, input, state.TimeoutSeconds ?? 60);
      case "Wait":
        await this.#host.wait(state.Seconds ?? Number(this.#read(state.SecondsPath ?? "$", input)), name);
        return input;
      case "Map": {
        const items = this.#read(state.ItemsPath ?? "$", input) as readonly Json[];
        const runs = items.map((item) => (own: Scope) => this.run(state.Iterator!, item, own));
        return await together(runs, state.MaxConcurrency || items.length, scope);
      }
      case "Parallel": {
        const runs = state.Branches!.map((branch) => (own: Scope) => this.run(branch, input, own));
        return await together(runs, runs.length, scope);
      }
      default:
        return input;
    }
  }

  #parameters({ Parameters }: State, data: Json): Json {
    if (!Parameters) return data;
    return Object.fromEntries(
      Object.entries(Parameters).map(([key, value]) =>
        key.endsWith(".$") ? [key.slice(0, -2), this.#read(String(value), data)!] : [key, value],
      ),
    );
  }

  #holds(condition: Condition, data: Json): boolean {
    if (condition.And) return condition.And.every((one) => this.#holds(one, data));
    const value = this.#find(condition.Variable ?? "$", data);
    if (condition.IsPresent !== undefined) return (value !== undefined) === condition.IsPresent;
    return value === condition.StringEquals;
  }

  #read(path: string, data: Json): Json {
    const value = this.#find(path, data);
    if (value === undefined) throw new StateError("States.Runtime", `${path} is not in ${JSON.stringify(data)}`);
    return value;
  }

  #find(path: string, data: Json): Json | undefined {
    const ofContext = path.startsWith("$$");
    const fields = path.split(".").slice(1);
    return fields.reduce<Json | undefined>(
      (value, field) =>
        value !== null && typeof value === "object" ? (value as Record<string, Json>)[field] : undefined,
      ofContext ? this.#context : data,
    );
  }
}

function matches({ ErrorEquals }: Rule, { error }: StateError): boolean {
  return ErrorEquals.some(
    (name) => name === error || name === "States.ALL" || (name === "States.TaskFailed" && error !== "States.Timeout"),
  );
}

/** `ResultPath`: absent replaces, null leaves, `$.name` adds. */
function place(data: Json, path: string | null | undefined, result: Json): Json {
  if (path === null) return data;
  if (path === undefined || path === "$") return result;
  return { ...(data as Record<string, Json>), [path.slice(2)]: result };
}

/** All of them, so many at a time; the first that fails cancels the others. */
async function together(
  runs: readonly ((scope: Scope) => Promise<Json>)[],
  concurrency: number,
  within: Scope,
): Promise<Json> {
  const scope: Scope = { cancelled: false, within };
  const results: Json[] = new Array(runs.length);
  let next = 0;
  const worker = async () => {
    while (next < runs.length && !isCancelled(scope)) {
      const index = next++;
      results[index] = await runs[index]!(scope);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, runs.length) }, worker));
  } catch (error) {
    scope.cancelled = true;
    throw error;
  }
  return results;
}
