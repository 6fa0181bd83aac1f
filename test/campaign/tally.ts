import type { Sort } from "./disturbance.ts";

interface Count {
  readonly name: string;
  readonly sort: Sort;
  count: number;
}

/** How often which disturbance has come about. */
export class Tally {
  readonly #counts = new Map<string, Count>();

  add(name: string, sort: Sort, count = 1): void {
    const row = this.#counts.get(name) ?? { name, sort, count: 0 };
    row.count += count;
    this.#counts.set(name, row);
  }

  addAll(other: Tally): void {
    for (const { name, sort, count } of other.#counts.values()) this.add(name, sort, count);
  }

  /** The most frequent first. */
  get counts(): readonly Readonly<Count>[] {
    return [...this.#counts.values()].sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1));
  }

  of(...sorts: readonly Sort[]): number {
    return this.counts.reduce((sum, { sort, count }) => sum + (sorts.includes(sort) ? count : 0), 0);
  }

  /** Kills, pauses and resets: what a campaign has to reach. */
  get hard(): number {
    return this.of("kill", "pause", "reset");
  }
}
