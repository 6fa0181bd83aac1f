import type { Engine } from "../../epoch/engine.ts";
import { InfrastructureError } from "../../errors.ts";
import type { Chance } from "./chance.ts";
import type { FaultKind, Faults } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";

/** What all parts of a simulated world share. */
export interface Nature {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly faults: Faults;
  /** For the timeline. */
  note(text: string | (() => string)): void;
  /** For the report: a state of the protocol that the run has been in. */
  reached(state: string): void;
  /** Called right after each effect, by whomever: invariants are looked at here. */
  afterEffect(): void;
  /** What an invocation must not do. */
  violated(invariant: string, message: string): void;
  readonly memory: Memory;
}

/** What everybody knows, and will act by: for who tells the states of a world apart. Nobody, by default. */
export interface Memory {
  /** @param anyOrder what is learnt in this way may be learnt in any order */
  learns(actor: string, what: () => unknown, anyOrder?: boolean): void;
  forgets(actor: string): void;
}

const second = 1000;
const hour = 3600 * second;
/** Made anew each time: one for all would keep whatever ever waited for it. */
const never = () => new Promise<never>(() => {});

/** Verbs of the ledger that only read: they cannot conflict. */
const reads = new Set(["head", "wake", "epoch", "epochs", "acks", "units"].map((verb) => `ledger.${verb}`));

/**
 * What a Lambda function runs in: a process of its own, with a clock of its own, kept warm between invocations and lost at a crash. Every call of a port
 * goes through `call`, where anything may happen to it.
 */
export class Sandbox {
  readonly name: string;
  readonly codeDigest: string;
  alive = true;
  /** The engine, once composed. */
  engine: Engine | undefined;
  /** What runs in it now; its name, and the number of its calls so far. */
  invocation = { name: "", calls: 0 };
  clockOffsetMs = 0;
  /** Tells whoever waits for the invocation. */
  onCrash: (() => void) | undefined;
  readonly #nature: Nature;

  constructor(nature: Nature, name: string, codeDigest: string) {
    this.#nature = nature;
    this.name = name;
    this.codeDigest = codeDigest;
    if (nature.faults.hits("clocks differ", name))
      this.clockOffsetMs = Math.round((nature.chance.of(`${name} clock`) - 0.5) * 20 * second);
  }

  begin(invocation: string): void {
    this.invocation = { name: invocation, calls: 0 };
    this.#nature.memory.learns(this.name, () => invocation);
    const { faults, chance } = this.#nature;
    if (faults.hits("clock jumps", invocation))
      this.clockOffsetMs += Math.round((chance.of(`${invocation} jump`) - 0.5) * 2 * hour);
  }

  /** Epoch milliseconds, as this process has them. */
  now(): number {
    return 1_700_000_000_000 + Math.floor(this.#nature.scheduler.now) + this.clockOffsetMs;
  }

  nonce(): string {
    return this.#nature.chance.letters(`nonce ${this.invocation.name} ${++this.invocation.calls}`);
  }

  /** Takes no time, and cannot fail: sleeping. */
  async sleep(ms: number): Promise<void> {
    await this.#nature.scheduler.sleep(ms, `${this.invocation.name} sleeps`);
    if (!this.alive) await never();
  }

  /** A call of a service. `effect` happens at one moment of virtual time, if it happens at all. */
  call<T>(method: string, effect: () => T | Promise<T>): Promise<T> {
    if (!this.alive) return never();
    const { scheduler, chance, faults } = this.#nature;
    const site = `${this.invocation.name} #${++this.invocation.calls} ${method}`;
    const hits = (kind: FaultKind) => faults.hits(kind, site);
    const actor = this.invocation.name;
    return new Promise<T>((resolve, reject) => {
      const step = (delayMs: number, what: string, happen: () => void) =>
        scheduler.step(actor, delayMs, happen, { label: `${site}: ${what}` });
      const answer = (delayMs: number, what: string, deliver: () => void) =>
        step(delayMs, what, () => {
          if (this.alive) deliver();
        });
      const fail = (error: Error) => () => {
        this.#learns(method, error.message);
        reject(error);
      };
      const latency = chance.magnitude(site, 0.3, 30);
      const failed = failureOf(method, hits);
      if (failed) return answer(latency, "answer", fail(failed));
      if (hits("crash before a call")) return answer(latency, "death", () => this.crash());
      if (hits("failed call takes effect later")) {
        const laterMs = chance.magnitude(`${site} later`, 10, 10 * hour);
        const happen = () => void this.#perform(effect).catch(() => {});
        scheduler.step(`${site}, late`, laterMs, happen, { isLate: true });
        return answer(latency, "answer", fail(lost(method)));
      }
      const slow = hits("call is slow") ? chance.magnitude(`${site} slow`, second, 20 * hour) : latency;
      step(slow, "happens", () => {
        const outcome = this.#perform(effect);
        outcome.catch(() => {});
        if (hits("crash after a call")) return this.crash();
        if (hits("answer lost")) return answer(latency, "answer", fail(lost(method)));
        const delay = hits("answer is slow") ? chance.magnitude(`${site} answer`, second, 20 * hour) : latency / 2;
        answer(delay, "answer", () =>
          outcome.then(
            (result) => {
              this.#learns(method, result);
              resolve(result);
            },
            (error: Error) => fail(error)(),
          ),
        );
      });
    });
  }

  /** What the caller knows from here on, and when. */
  #learns(method: string, result: unknown): void {
    this.#nature.memory.learns(this.name, () => [method, result, this.#nature.scheduler.now]);
  }

  crash(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#nature.memory.forgets(this.name);
    this.#nature.note(`${this.invocation.name} dies`);
    this.onCrash?.();
  }

  async #perform<T>(effect: () => T | Promise<T>): Promise<T> {
    try {
      return await effect();
    } finally {
      this.#nature.afterEffect();
    }
  }
}

function failureOf(method: string, hits: (kind: FaultKind) => boolean): InfrastructureError | undefined {
  if (hits("unreachable")) return new InfrastructureError("unreachable", `${method}: unreachable, on purpose`);
  if (hits("throttled")) return new InfrastructureError("throttled", `${method}: throttled, on purpose`);
  if (method.startsWith("ledger.") && !reads.has(method) && hits("conditional write conflicts"))
    return new InfrastructureError("conflict", `${method}: transaction conflict, on purpose`);
  return undefined;
}

const lost = (method: string) => new InfrastructureError("answer-lost", `${method}: the answer was lost, on purpose`);
