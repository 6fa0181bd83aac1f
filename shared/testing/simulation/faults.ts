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
  "invocation times out, and goes on": 0.05,
  "invocation never begins": 0.1,
  "sandbox lost between invocations": 0.2,
  // ---- executions
  "execution dies": 0.1,
  "execution described as running": 1,
  "start answers as if it were the first": 0.5,
  // ---- events that wake
  "event comes twice": 0.4,
  "event comes late": 0.4,
  // ---- clocks
  "clocks differ": 1,
  "clock jumps": 0.1,
  /** Per run. */
  "a week passes": 0.3,
  // ---- stores
  "listing misses what is being written": 0.7,
  // ---- the source; per run
  "transaction left open": 0.6,
  "transaction aborted": 0.4,
  "partition added": 0.3,
  "input comes while Plan looks": 0.5,
  "log truncated by retention": 0.2,
  // ---- Kafka as a sink
  "leader changes": 0.08,
  "transaction times out": 0.05,
  "markers are slow": 0.3,
  "a week passes during a commit": 0.02,
  // ---- people; per run
  "new code": 0.5,
  "topology changes": 0.2,
  "parallelism changes": 1,
  pause: 0.3,
  "pause while Plan looks": 0.1,
  restore: 0.4,
  "sweep during a restore": 0.6,
  reset: 0.15,
  abandon: 0.15,
  "abandon during a commit": 0.08,
  "abandon pauses half way": 1,
  "collector sweeps": 0.8,
  heartbeat: 0.4,
} as const;
export type FaultKind = keyof typeof faultKinds;

/** One fault that was injected. `site` names the occasion: it is the same in every run of the seed that gets as far. */
export interface Fault {
  readonly kind: FaultKind;
  readonly site: string;
  readonly time: number;
}

export const faultName = ({ kind, site }: Pick<Fault, "kind" | "site">): string => `${kind} @ ${site}`;

/** Which faults a run may have; by default those that chance picks. Faults go by their names. */
export interface FaultChoice {
  /** Of those that chance picks, only these; for the shrinker. */
  readonly only?: ReadonlySet<string>;
  /** These, whatever chance says. */
  readonly exactly?: ReadonlySet<string>;
  /** With `exactly`: collects all that could have happened. */
  readonly occasions?: Set<string>;
  /** Instead of all that: whether this occasion is taken. */
  readonly decides?: (kind: FaultKind, site: string) => boolean;
}

/** Decides what goes wrong. Each seed has a mix of its own, with about half of all kinds, so that rare ones are not always drowned by others. */
export class Faults {
  readonly injected: Fault[] = [];
  readonly #chance: Chance;
  readonly #rates = new Map<FaultKind, number>();
  readonly #choice: FaultChoice;
  readonly #happens: (fault: Pick<Fault, "kind" | "site">) => Fault;
  #over = false;

  /**
   * @param happens called for each, gives it its time
   */
  constructor(chance: Chance, happens: (fault: Pick<Fault, "kind" | "site">) => Fault, choice: FaultChoice) {
    this.#chance = chance;
    this.#happens = happens;
    this.#choice = choice;
    for (const [kind, most] of Object.entries(faultKinds) as [FaultKind, number][]) {
      if (chance.of(`mix ${kind}`) < 0.5) continue;
      // What is rare anyway may be much rarer still.
      this.#rates.set(kind, most * chance.magnitude(`rate ${kind}`, most < 0.1 ? 0.05 : 0.3, 1));
    }
  }

  /** Whether this occasion is taken. */
  hits(kind: FaultKind, site: string): boolean {
    if (this.#over || !this.#isTaken(kind, site)) return false;
    this.injected.push(this.#happens({ kind, site }));
    return true;
  }

  #isTaken(kind: FaultKind, site: string): boolean {
    const { only, exactly, occasions, decides } = this.#choice;
    if (decides) return decides(kind, site);
    if (exactly) {
      const name = faultName({ kind, site });
      occasions?.add(name);
      return exactly.has(name);
    }
    const rate = this.#rates.get(kind);
    if (rate === undefined) return false;
    const name = faultName({ kind, site });
    return this.#chance.of(name) < rate && (!only || only.has(name));
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** From here on all is well, and what is left to do must get done. */
  end(): void {
    this.#over = true;
  }
}
