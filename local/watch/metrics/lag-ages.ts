interface End {
  readonly high: number;
  readonly at: number;
}

interface Partition {
  /** When its end was first seen to be above an offset: ascending in both. */
  readonly seen: End[];
}

/** Of more ends two become one: what is told then is up to a step too old. */
const mostEnds = 512;

/**
 * Since when partitions have had what is not processed: the time at which an end above the position was first seen, as Kafka's lag exporters have it. What was
 * there before anybody looked counts from the first look, so it is never too much.
 */
export class LagAges {
  readonly #partitions = new Map<string, Partition>();

  /** The partition was written up to `high` at this time, in milliseconds. */
  look(id: string, high: number, at: number): void {
    const { seen } = this.#partitions.get(id) ?? this.#add(id);
    const last = seen.at(-1);
    if (last !== undefined && high <= last.high) return;
    seen.push({ high, at });
    if (seen.length > mostEnds) seen.splice(0, seen.length, ...inPairs(seen));
  }

  /** Milliseconds; 0: all that was seen is processed. */
  ageOf(id: string, position: number, now: number): number {
    const seen = this.#partitions.get(id)?.seen ?? [];
    while (seen.length > 0 && seen[0]!.high <= position) seen.shift();
    return seen[0] === undefined ? 0 : Math.max(0, now - seen[0].at);
  }

  #add(id: string): Partition {
    const partition: Partition = { seen: [] };
    this.#partitions.set(id, partition);
    return partition;
  }
}

/** The earlier time of two with the later end: ages grow rather than shrink. */
function inPairs(ends: readonly End[]): End[] {
  return ends.flatMap((end, index) => {
    if (index % 2 === 1) return [];
    return [{ at: end.at, high: (ends[index + 1] ?? end).high }];
  });
}
