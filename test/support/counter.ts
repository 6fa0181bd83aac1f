import type { Handlers } from "../../local/machine.ts";
import type { Internals } from "../../local/session.ts";
import { mapHandlers } from "./handlers.ts";
import { type Around, around } from "./ports.ts";

/** The n-th call of a method in a run, from 1. Counted by method, since what runs at the same time may come in any order. */
export interface Call {
  readonly method: string;
  readonly ordinal: number;
}

/** Counts calls by method. */
export class Counter {
  readonly counts = new Map<string, number>();

  next(method: string): number {
    const ordinal = (this.counts.get(method) ?? 0) + 1;
    this.counts.set(method, ordinal);
    return ordinal;
  }

  calls(): Call[] {
    return [...this.counts].flatMap(([method, count]) =>
      Array.from({ length: count }, (_, index) => ({ method, ordinal: index + 1 })),
    );
  }
}

/** What to give to `runWith` to count calls. */
export function counting(counter: Counter): Internals {
  const count: Around = (method, call) => {
    counter.next(method);
    return call();
  };
  return { engine: (engine) => around(engine, count) };
}

/** Counts the calls of each state's function. */
export function countingStates(counter: Counter): Internals {
  const count = (state: string, handler: Handlers[string]) => (input: never) => {
    counter.next(state);
    return handler(input);
  };
  return { handlers: (handlers) => mapHandlers(handlers, count) };
}
