import { systemClock } from "../shared/adapters/system/clock.ts";
import type { HeldBack, Source } from "../shared/ports/source.ts";

/** For people: what is waited for, whose it is, and when it will be over. */
export function describeHeldBack({ id, offset, by, since, until }: HeldBack): string {
  const open = since === null ? "an open transaction" : `a transaction open since ${new Date(since).toISOString()}`;
  const end =
    until === null ? "" : `; Kafka aborts it at ${new Date(until).toISOString()} at the latest, give or take its sweep`;
  return `${id} can be read up to offset ${offset} only: ${open}, of ${by}${end}`;
}

/** Milliseconds for which a transaction may be open before anybody is told. */
const quietMs = 5_000;

/** Where a source can tell. */
export function heldBackWatch(source: Source, tell: (text: string) => void): HeldBackWatch | undefined {
  const { heldBack } = source;
  return (
    heldBack &&
    new HeldBackWatch(
      () => heldBack.call(source),
      tell,
      () => systemClock.now(),
    )
  );
}

/** Tells once of each transaction that holds the source back for long: looks at most every few seconds. */
export class HeldBackWatch {
  readonly #tell: (text: string) => void;
  readonly #look: () => Promise<readonly HeldBack[]>;
  readonly #now: () => number;
  #lookedAt: number;
  /** When each was seen first. */
  #seen = new Map<string, number>();
  readonly #told = new Set<string>();

  constructor(look: () => Promise<readonly HeldBack[]>, tell: (text: string) => void, now: () => number) {
    this.#look = look;
    this.#tell = tell;
    this.#now = now;
    this.#lookedAt = now();
  }

  /** After a plan. What cannot be seen is nobody's failure. */
  async planned(): Promise<void> {
    const now = this.#now();
    if (now - this.#lookedAt < quietMs) return;
    this.#lookedAt = now;
    const open = await this.#look().catch(() => []);
    const named = new Map(open.map((one) => [`${one.id} ${one.offset} ${one.by}`, one]));
    this.#seen = new Map([...named.keys()].map((name) => [name, this.#seen.get(name) ?? now]));
    for (const [name, one] of named) {
      if (this.#told.has(name) || now - (one.since ?? this.#seen.get(name)!) < quietMs) continue;
      this.#told.add(name);
      this.#tell(describeHeldBack(one));
    }
  }
}
