import { setImmediate } from "node:timers/promises";
import type { Handlers } from "../../local/machine.ts";
import type { Internals } from "../../local/session.ts";
import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import type { Engine } from "../../shared/epoch/engine.ts";
import { Counter } from "./counter.ts";
import { mapHandlers } from "./handlers.ts";

/** When a function of the state machine, which Lambda may invoke twice, is invoked a second time, with the same input. */
export const ways = [
  "at once, and the first answer counts",
  "at once, and the second answer counts",
  "again after the next call",
  "again when all is committed and collected",
  "again in the next process",
] as const;
export type Way = (typeof ways)[number];

export interface Invocation {
  /** The state of the machine. */
  readonly state: string;
  /** The n-th time, from 1. */
  readonly ordinal: number;
}

/** One invocation that is made twice. */
export class Doubling {
  readonly #target: Invocation;
  readonly #way: Way;
  readonly #random: SeededRandom;
  readonly #counter = new Counter();
  readonly #collect: (engine: Engine) => Promise<unknown>;
  #engine: Engine | undefined;
  #again: ((handlers: Handlers) => Promise<unknown>) | undefined;

  /** @param collect what happens when all is committed, before an old invocation comes again */
  constructor(target: Invocation, way: Way, random: SeededRandom, collect: (engine: Engine) => Promise<unknown>) {
    this.#target = target;
    this.#way = way;
    this.#random = random;
    this.#collect = collect;
  }

  get process(): Internals {
    return {
      engine: (engine) => {
        this.#engine = engine;
        return engine;
      },
      handlers: (handlers) =>
        mapHandlers(handlers, (state, handler) => (input) => this.#invoke(handlers, state, handler, input)),
    };
  }

  get nextProcess(): Internals {
    const first = (handlers: Handlers) => async (input: never) => {
      await this.#repeat(handlers);
      return await handlers.Plan!(input);
    };
    return { handlers: (handlers) => ({ ...handlers, Plan: first(handlers) }) };
  }

  async #invoke(handlers: Handlers, state: string, handler: Handlers[string], input: never): Promise<unknown> {
    const isTarget = this.#counter.next(state) === this.#target.ordinal && state === this.#target.state;
    if (isTarget && this.#way.startsWith("at once")) {
      const both = await twice(handler, input, this.#random);
      return both[this.#way.endsWith("first answer counts") ? 0 : 1];
    }
    const answer = await handler(input);
    if (this.#way === "again after the next call") await this.#repeat(handlers);
    if (state === "Plan" && isEnd(answer) && this.#way === "again when all is committed and collected") {
      await this.#collect(this.#engine!);
      await this.#repeat(handlers);
    }
    if (isTarget) this.#again = (later) => later[state]!(input);
    return answer;
  }

  async #repeat(handlers: Handlers): Promise<void> {
    const again = this.#again;
    this.#again = undefined;
    await again?.(handlers);
  }
}

/** Any invocation is made twice at once, by chance, and either answer counts. */
export function doublingMany(random: SeededRandom): Internals {
  const double = (_: string, handler: Handlers[string]) => async (input: never) =>
    random.below(3) === 0 ? await handler(input) : (await twice(handler, input, random))[random.below(2)];
  return { handlers: (handlers) => mapHandlers(handlers, double) };
}

/** The second one begins somewhere in the middle of the first. */
function twice(handler: Handlers[string], input: never, random: SeededRandom): Promise<unknown[]> {
  const later = async (): Promise<unknown> => {
    for (let turns = random.below(12); turns > 0; turns--) await setImmediate();
    return await handler(input);
  };
  return Promise.all([handler(input), later()]);
}

const isEnd = (answer: unknown): boolean => (answer as { action?: string }).action === "end";
