import type { HistoryEvent } from "@aws-sdk/client-sfn";

export interface Transition {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The state that was entered. */
  readonly state: string;
}

/** A state machine in Amazon States Language, as far as it is used here. */
export interface Machine {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

interface State {
  readonly Type: string;
  readonly Next?: string;
  readonly ResultPath?: string | null;
  readonly ItemsPath?: string;
  readonly Iterator?: Machine;
  readonly Branches?: readonly Machine[];
  readonly Choices?: readonly (Rule & { readonly Next: string })[];
  readonly Default?: string;
}

interface Rule {
  readonly Variable?: string;
  readonly IsPresent?: boolean;
  readonly StringEquals?: string;
  readonly And?: readonly Rule[];
}

/** What tasks answer that later choices look at, when all goes well. */
const answers: Readonly<Record<string, unknown>> = { Decide: { outcome: "decided" } };

/**
 * The state transitions that AWS bills for an execution: each state entered, in iterations and branches too, and each retry of a task
 * (https://aws.amazon.com/step-functions/pricing/).
 *
 * The emulator's history lacks the states within a Map or Parallel state. They follow from the definition and from that state's input, if all goes well; tasks that
 * were scheduled besides these are retries.
 */
export function transitionsOf(history: readonly HistoryEvent[], machine: Machine): Transition[] {
  const transitions = history.flatMap(({ timestamp, stateEnteredEventDetails: entered }) => {
    const state = machine.States[entered?.name ?? ""];
    if (entered === undefined || state === undefined) return [];
    const inner = statesWithin(state, JSON.parse(entered.input ?? "{}"));
    return [entered.name!, ...inner].map((name) => ({ at: timestamp!.getTime(), state: name }));
  });
  const scheduled = history.filter(({ type }) => type === "TaskScheduled" || type === "LambdaFunctionScheduled");
  const tasks = tasksOf(machine);
  const expected = transitions.filter(({ state }) => tasks.has(state)).length;
  const retries = scheduled.slice(expected).map(({ timestamp }) => ({ at: timestamp!.getTime(), state: "a retry" }));
  return [...transitions, ...retries];
}

/** The states that a Map or Parallel state runs through; none within any other. */
export function statesWithin({ ItemsPath = "$", Iterator: iterator, Branches = [] }: State, input: unknown): string[] {
  if (iterator === undefined) return Branches.flatMap((branch) => statesOf(branch, input));
  return (at(ItemsPath, input) as readonly unknown[]).flatMap((item) => statesOf(iterator, item));
}

function statesOf({ StartAt, States }: Machine, input: unknown): string[] {
  const passed: string[] = [];
  let data = input;
  for (let name: string | undefined = StartAt; name !== undefined; ) {
    const state: State = States[name]!;
    passed.push(name, ...statesWithin(state, data));
    if (Object.hasOwn(answers, name) && state.ResultPath)
      data = { ...(data as object), [state.ResultPath.slice(2)]: answers[name] };
    name = state.Choices?.find((rule) => holds(rule, data))?.Next ?? state.Default ?? state.Next;
  }
  return passed;
}

function holds({ Variable = "$", IsPresent, StringEquals, And }: Rule, data: unknown): boolean {
  if (And) return And.every((rule) => holds(rule, data));
  const value = at(Variable, data);
  return IsPresent === undefined ? value === StringEquals : (value !== undefined) === IsPresent;
}

/** A path such as `$.commit.tasks`. */
function at(path: string, data: unknown): unknown {
  return path
    .split(".")
    .slice(1)
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], data);
}

function tasksOf({ States }: Machine): Set<string> {
  return new Set(
    Object.entries(States).flatMap(([name, { Type, Iterator: iterator, Branches = [] }]) => [
      ...(Type === "Task" ? [name] : []),
      ...[...Branches, ...(iterator ? [iterator] : [])].flatMap((inner) => [...tasksOf(inner)]),
    ]),
  );
}
