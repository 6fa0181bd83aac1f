/** Something that is about to happen. */
export interface Event {
  readonly time: number;
  /** Breaks ties: first come, first served. */
  readonly order: number;
  readonly happen: () => void;
  /** Whose step it is, which may take any time; undefined if it is time itself that makes it happen. */
  readonly actor: string | undefined;
  /** What it is, so that states of a world can be told apart. */
  readonly label: string;
  /** Nothing waits for it: it may come as late as it likes. */
  readonly isLate: boolean;
  cancelled: boolean;
}

/** What is about to happen, and in which order. */
export interface Agenda {
  push(event: Event): void;
  /** The next; undefined if there is none. It may be one that was cancelled. */
  pop(): Event | undefined;
}

/**
 * Owns time. Everything that happens is an event at a virtual time; between two events all promises that can go on do so. Nothing in a simulated world
 * may wait for the real one: no timer, no I/O, no thread pool.
 */
export class Scheduler {
  /** Virtual milliseconds since the run began. */
  now = 0;
  /** Events that have happened. */
  steps = 0;
  readonly #agenda: Agenda;
  #order = 0;

  constructor(agenda: Agenda = new ByTime()) {
    this.#agenda = agenda;
  }

  /** Has something happen after so many virtual milliseconds; returns what cancels it. */
  after(delayMs: number, happen: () => void, label = ""): () => void {
    return this.#add(delayMs, happen, { actor: undefined, label, isLate: false });
  }

  /** Has somebody's next step happen, about after so many virtual milliseconds. */
  step(actor: string, delayMs: number, happen: () => void, { label = actor, isLate = false } = {}): void {
    this.#add(delayMs, happen, { actor, label, isLate });
  }

  /** Resolves after so many virtual milliseconds. */
  sleep(delayMs: number, label = ""): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve, label));
  }

  /** So much time passes at once; whatever was due meanwhile is late. */
  leap(ms: number): void {
    this.now += ms;
  }

  /** Until nothing is left to happen, or `until` says so after a step. */
  async run(until: () => boolean | Promise<boolean>): Promise<"quiet" | "interrupted"> {
    await drained();
    for (let event = this.#agenda.pop(); event; event = this.#agenda.pop()) {
      if (event.cancelled) continue;
      this.now = Math.max(this.now, event.time);
      this.steps++;
      event.happen();
      await drained();
      if (await until()) return "interrupted";
    }
    return "quiet";
  }

  #add(delayMs: number, happen: () => void, what: Pick<Event, "actor" | "label" | "isLate">): () => void {
    const event = { time: this.now + Math.max(0, delayMs), order: this.#order++, happen, cancelled: false, ...what };
    this.#agenda.push(event);
    return () => {
      event.cancelled = true;
    };
  }
}

/** The order of time: a heap. */
class ByTime implements Agenda {
  readonly #heap: Event[] = [];

  push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.time < other.time || (one.time === other.time && one.order < other.order);

/** All promises have gone on as far as they can: Node comes to the next tick only when no microtask is left. Cheaper than a turn of the event loop. */
const drained = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
