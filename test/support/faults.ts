import { AsyncLocalStorage } from "node:async_hooks";
import type { Handlers } from "../../local/machine.ts";
import type { Internals } from "../../local/session.ts";
import type { Engine } from "../../shared/epoch/engine.ts";
import { InfrastructureError, UsageError } from "../../shared/errors.ts";
import { type Call, Counter } from "./counter.ts";
import { mapHandlers } from "./handlers.ts";
import { around, synchronous } from "./ports.ts";

/**
 * - `before`: the call fails, and has had no effect;
 * - `after`: it has had its effect, and fails: its answer is lost;
 * - `death before`, `death after`: so does every call from then on, as if the process had died;
 * - `zombie`: the function that makes the call hangs in it and counts as lost; when the machine has gone on, it wakes up in the middle of the next
 *   attempt, and does all that it still had in mind;
 * - `late zombie`: it wakes up when all is committed, and collected.
 */
export const modes = ["before", "after", "death before", "death after", "zombie", "late zombie"] as const;
export type Mode = (typeof modes)[number];

/** One fault in one run. */
export class Fault {
  /** Whether the call came at all. */
  hit = false;
  readonly #target: Call;
  readonly #mode: Mode;
  readonly #counter = new Counter();
  readonly #invocation = new AsyncLocalStorage<Invocation>();
  readonly #gate = Promise.withResolvers<void>();
  #dead = false;
  #zombie: Promise<unknown> | undefined;
  #engine: Engine | undefined;
  readonly #beforeLateZombie: (engine: Engine) => Promise<unknown>;

  /** @param beforeLateZombie what happens at the end of the work, before a late zombie wakes up */
  constructor(target: Call, mode: Mode, beforeLateZombie: (engine: Engine) => Promise<unknown>) {
    this.#target = target;
    this.#mode = mode;
    this.#beforeLateZombie = beforeLateZombie;
  }

  get internals(): Internals {
    return {
      engine: (engine) => {
        this.#engine = engine;
        return around(engine, (method, call) => this.#around(method, call));
      },
      handlers: (handlers) => this.#handlers(handlers),
    };
  }

  #around<T>(method: string, call: () => T): T {
    const fail = (error: Error): T => {
      if (synchronous.has(method)) throw error;
      return Promise.reject(error) as T;
    };
    if (this.#dead) return fail(dead());
    if (this.#counter.next(method) !== this.#target.ordinal || method !== this.#target.method) return call();
    this.hit = true;
    if (this.#mode.startsWith("death")) this.#dead = true;
    const error = this.#dead ? dead() : lost(this.#target);
    switch (this.#mode) {
      case "before":
      case "death before":
        return fail(error);
      case "after":
      case "death after":
        if (!synchronous.has(method)) return (call() as Promise<unknown>).then(() => fail(error)) as T;
        call();
        return fail(error);
      default:
        return this.#hang(method, call, error);
    }
  }

  /** Only a function of the state machine can be lost and come back; and only in a call that waits for something. */
  #hang<T>(method: string, call: () => T, error: Error): T {
    const invocation = this.#invocation.getStore();
    if (!invocation || synchronous.has(method)) {
      this.hit = false;
      return call();
    }
    this.#zombie = invocation.over;
    invocation.lose(error);
    return this.#gate.promise.then(call as () => Promise<unknown>) as T;
  }

  #handlers(handlers: Handlers): Handlers {
    return mapHandlers(handlers, (state, handler) => async (input) => {
      const answer = await this.#invoke(() => handler(input));
      if (state === "Plan" && this.#zombie) await this.#wakeUp(answer as { action: string });
      return answer;
    });
  }

  #invoke(call: () => Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const invocation: Invocation = { lose: reject, over: promise };
    const work = this.#invocation.run(invocation, async () => {
      await undefined;
      return await call();
    });
    invocation.over = work.catch(() => {});
    work.then(resolve, reject);
    return promise;
  }

  async #wakeUp({ action }: { action: string }): Promise<void> {
    if (this.#mode === "zombie") return this.#gate.resolve();
    if (action !== "end") return;
    await this.#beforeLateZombie(this.#engine!);
    this.#gate.resolve();
    await this.#zombie;
  }
}

/** One call of a function of the state machine. */
interface Invocation {
  /** When it is really over. */
  over: Promise<unknown>;
  /** Has its caller believe that it failed. */
  lose(error: Error): void;
}

const lost = ({ method, ordinal }: Call) =>
  new InfrastructureError("injected", `call ${ordinal} of ${method} failed on purpose`);
/** Of a kind that nothing is tried again for. */
const dead = () => new UsageError("dead", "this process counts as dead");
