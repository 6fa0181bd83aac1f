import type { Chance } from "./chance.ts";

/** Everything that can go wrong, or be asked for at a bad moment, with how often at most: per occasion, or per run where it says so. */
export const faultKinds = {
  // ---- a call of a port
  unreachable: 0.05,
  throttled: 0.05,
  "conditional write conflicts": 0.05,
  "answer lost": 0.05,
  "failed call takes effect later": 0.04,
  "call is slow": 0.03,
  "answer is slow": 0.03,
  "crash before a call": 0.03,
  "crash after a call": 0.03,
  // ---- an invocation of a function
  "invocation doubled at once": 0.15,
  "invocation comes again later": 0.15,
  "invocation given up, and goes on": 0.1,
  "invocation never begins": 0.1,
  "sandbox lost between invocations": 0.2,
  // ---- executions
  "execution dies": 0.04,
  "execution described as running": 0.5,
  "start answers as if it were the first": 0.5,
  // ---- events that wake
  "event comes twice": 0.4,
  "event comes late": 0.4,
  // ---- clocks
  "clocks differ": 1,
  "clock jumps": 0.1,
  // ---- stores
  "listing misses what is being written": 0.7,
  // ---- the source; per run
  "transaction left open": 0.6,
  "transaction aborted": 0.4,
  "partition added": 0.4,
  "log truncated by retention": 0.12,
  // ---- Kafka as a sink
  "leader changes": 0.08,
  "transaction times out": 0.05,
  "markers are slow": 0.3,
  // ---- people; per run
  "new code": 0.5,
  "parallelism changes": 1,
  pause: 0.3,
  restore: 0.3,
  reset: 0.15,
  abandon: 0.15,
  "collector sweeps": 0.8,
  "heartbeat": 0.4,
} as const;
export type FaultKind = keyof typeof faultKinds;

/** One fault that was injected. `site` names the occasion: it is the same in every run of the seed that gets as far. */
export interface Fault {
  readonly kind: FaultKind;
  readonly site: string;
  readonly time: number;
}

export const faultName = ({ kind, site }: Pick<Fault, "kind" | "site">): string => `${kind} @ ${site}`;

/** Decides what goes wrong. Each seed has a mix of its own, with about half of all kinds, so that rare ones are not always drowned by others. */
export class Faults {
  readonly injected: Fault[] = [];
  readonly #chance: Chance;
  readonly #rates = new Map<FaultKind, number>();
  readonly #only: ReadonlySet<string> | undefined;
  readonly #now: () => number;
  #over = false;

  /** @param only names of faults: all others stay away (for the shrinker) */
  constructor(chance: Chance, now: () => number, options: { only?: ReadonlySet<string>; without?: ReadonlySet<FaultKind> }) {
    this.#chance = chance;
    this.#now = now;
    this.#only = options.only;
    for (const [kind, most] of Object.entries(faultKinds) as [FaultKind, number][]) {
      if (options.without?.has(kind) || chance.of(`mix ${kind}`) < 0.5) continue;
      this.#rates.set(kind, most * chance.magnitude(`rate ${kind}`, 0.05, 1));
    }
  }

  /** Whether this occasion is taken. */
  hits(kind: FaultKind, site: string): boolean {
    const rate = this.#rates.get(kind);
    if (rate === undefined || this.#over || this.#chance.of(`${kind} @ ${site}`) >= rate) return false;
    if (this.#only && !this.#only.has(faultName({ kind, site }))) return false;
    this.injected.push({ kind, site, time: this.#now() });
    return true;
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** From here on all is well, and what is left to do must get done. */
  end(): void {
    this.#over = true;
  }
}
