// A small explicit-state model checker: breadth first, so every counterexample is a shortest one.
import { hash } from "node:crypto";

/** One atomic action. `fault` marks what a healthy world does not do: the liveness check never relies on it. */
export type Step<State> = { label: string; state: State; fault?: boolean };

export interface Model<State> {
  initial: State;
  steps(state: State): Step<State>[];
  /** Names the broken invariant, or null. */
  violation(state: State): string | null;
  /** All data committed, nothing running, nothing left behind. */
  drained(state: State): boolean;
}

export interface Result {
  states: number;
  transitions: number;
  depth: number;
  seconds: number;
  complete: boolean;
  violation: string | null;
  trace: string[];
}

/** Deep copy of plain data. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (value !== null && typeof value === "object") {
    const result: Record<string, unknown> = {};
    for (const key in value) result[key] = copy(value[key]);
    return result as T;
  }
  return value;
}

/** Adds to a dictionary and keeps its keys sorted, so that equal states have equal JSON. */
export function put<T>(dictionary: Record<string, T>, key: string, value: T): void {
  const isNew = !(key in dictionary);
  dictionary[key] = value;
  if (!isNew) return;
  for (const other of Object.keys(dictionary)
    .filter((one) => one > key)
    .sort()) {
    const moved = dictionary[other]!;
    delete dictionary[other];
    dictionary[other] = moved;
  }
}

/** Sorts what has no order of its own. */
export function sortByText(items: unknown[]): void {
  if (items.length < 2) return;
  const texts = new Map(items.map((one) => [one, JSON.stringify(one)]));
  items.sort((one, other) => (texts.get(one)! < texts.get(other)! ? -1 : 1));
}

class Numbers {
  items = new Int32Array(1 << 16);
  length = 0;
  push(value: number) {
    if (this.length === this.items.length) {
      const larger = new Int32Array(this.length * 2);
      larger.set(this.items);
      this.items = larger;
    }
    this.items[this.length++] = value;
  }
}

export function explore<State>(model: Model<State>, maxStates = 4_000_000): Result {
  const began = performance.now();
  const seen = new Map<string, number>();
  const parent = new Numbers(),
    choice = new Numbers(),
    level = new Numbers(),
    isDrained = new Numbers();
  const edgeFrom = new Numbers(),
    edgeTo = new Numbers(); // the edges that need no fault
  const queue: (State | undefined)[] = [];
  let transitions = 0;
  let complete = true;

  const visit = (state: State, from: number, step: number): number => {
    const key = hash("md5", JSON.stringify(state), "binary");
    const known = seen.get(key);
    if (known !== undefined) return known;
    const index = queue.length;
    seen.set(key, index);
    queue.push(state);
    parent.push(from);
    choice.push(step);
    level.push(from < 0 ? 0 : level.items[from]! + 1);
    isDrained.push(model.drained(state) ? 1 : 0);
    return index;
  };

  /** Replays the choices that lead to a state; states themselves are not kept. */
  const traceTo = (index: number): { labels: string[]; state: State } => {
    const choices: number[] = [];
    for (let at = index; parent.items[at]! >= 0; at = parent.items[at]!) choices.unshift(choice.items[at]!);
    let state = model.initial;
    const labels = choices.map((which) => {
      const step = model.steps(state)[which]!;
      state = step.state;
      return (step.fault ? "! " : "  ") + step.label;
    });
    return { labels, state };
  };

  const result = (violation: string | null, trace: string[]): Result => ({
    states: queue.length,
    transitions,
    complete,
    violation,
    trace,
    depth: level.length ? level.items[level.length - 1]! : 0,
    seconds: (performance.now() - began) / 1000,
  });

  visit(model.initial, -1, 0);
  for (let index = 0; index < queue.length; index++) {
    if (queue.length > maxStates) {
      complete = false;
      break;
    }
    const state = queue[index]!;
    queue[index] = undefined;
    const broken = model.violation(state);
    if (broken) return result(broken, traceTo(index).labels);
    const steps = model.steps(state);
    transitions += steps.length;
    steps.forEach((step, which) => {
      const next = visit(step.state, index, which);
      if (!step.fault) {
        edgeFrom.push(index);
        edgeTo.push(next);
      }
    });
  }
  if (!complete) return result(null, []);

  // Liveness: from every reachable state, steps that need no fault lead to a drained one. In a finite graph that
  // means: every execution that treats its steps fairly, and suffers no further fault, drains.
  const count = queue.length;
  const start = new Int32Array(count + 1);
  for (let edge = 0; edge < edgeTo.length; edge++) start[edgeTo.items[edge]! + 1]!++;
  for (let at = 0; at < count; at++) start[at + 1]! += start[at]!;
  const fill = start.slice(),
    back = new Int32Array(edgeTo.length);
  for (let edge = 0; edge < edgeTo.length; edge++) back[fill[edgeTo.items[edge]!]!++] = edgeFrom.items[edge]!;
  const good = new Uint8Array(count);
  const work: number[] = [];
  for (let at = 0; at < count; at++)
    if (isDrained.items[at]) {
      good[at] = 1;
      work.push(at);
    }
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    for (let edge = start[at]!; edge < start[at + 1]!; edge++) {
      const before = back[edge]!;
      if (!good[before]) {
        good[before] = 1;
        work.push(before);
      }
    }
  }
  const doomed = good.indexOf(0);
  if (doomed < 0) return result(null, []);
  const { labels, state } = traceTo(doomed);
  return result("liveness: this state can never drain", [
    ...labels,
    "-- from here nothing drains; for example:",
    ...ending(model, state),
  ]);
}

/** Some fault-free way on from a state, until it ends or repeats. */
function ending<State>(model: Model<State>, from: State): string[] {
  const labels: string[] = [];
  const met = new Set<string>();
  for (let state = from; labels.length < 40; ) {
    met.add(JSON.stringify(state));
    const step = model.steps(state).find((one) => !one.fault && !met.has(JSON.stringify(one.state)));
    if (!step)
      return [
        ...labels,
        `  (${model.steps(state).some((one) => !one.fault) ? "only repetition" : "nothing can happen"})`,
      ];
    labels.push(`  ${step.label}`);
    state = step.state;
  }
  return labels;
}
