import type { Agenda, Event } from "../../../shared/testing/simulation/scheduler.ts";
import type { Choices } from "./choices.ts";

interface Options {
  readonly choices: Choices;
  /** Steps that nobody else can tell from their actor's next: that it is held up before one is no case of its own. */
  isPrivate(label: string): boolean;
  /** Called before each step that is not in the schedule: false if this state of the world has been seen, and the run is to end. */
  isNew(): boolean;
  /** How often time may pass while somebody sleeps who could go on. */
  readonly patience: number;
}

/**
 * Enumerates orders, after CHESS (Musuvathi and others, "Finding and reproducing Heisenbugs in concurrent programs", 2008) and delay-bounded scheduling (Emmi,
 * Qadeer and Rakamaric, 2011). Whoever is at work goes on until he has nothing to do; then who has waited longest. A preemption puts him to sleep, or
 * wakes a sleeper before his time. When only sleepers could go on, each of them may, and so may time: these choices are free. So a call may take for ever.
 */
export class EnumeratedAgenda implements Agenda {
  /** In the order in which they came. */
  #steps: Event[] = [];
  #timers: Event[] = [];
  readonly #asleep = new Set<string>();
  readonly #options: Options;
  #current: string | undefined;
  #patience: number;
  /** The run ended since its state had been seen. */
  isCut = false;

  constructor(options: Options) {
    this.#options = options;
    this.#patience = options.patience;
  }

  push(event: Event): void {
    if (event.actor === undefined) {
      this.#timers.push(event);
      return;
    }
    this.#steps.push(event);
    if (event.isLate) this.#asleep.add(event.actor);
  }

  pop(): Event | undefined {
    this.#timers = this.#timers.filter((one) => !one.cancelled);
    for (let woken: string | undefined; ; ) {
      const awake = this.#steps.filter((one) => !this.#asleep.has(one.actor!));
      const front = awake.find((one) => one.actor === this.#current) ?? awake[0];
      if (front && (this.#options.isPrivate(front.label) || front.actor === woken)) return this.#take(front);
      if (!this.#options.isNew()) {
        this.isCut = true;
        return undefined;
      }
      if (!front) return this.#whenQuiet();
      woken = this.#preempt(front);
      if (woken === undefined) return this.#take(front);
    }
  }

  /** What is about to happen, and to whom, relative to now. */
  state(now: number): unknown {
    return [
      this.#current,
      this.#patience,
      ...this.#steps.map((one) => [one.label, this.#asleep.has(one.actor!)]),
      ...this.#timers.flatMap((one) => (one.cancelled ? [] : [[one.label, one.time - now]])),
    ];
  }

  /** Undefined: the first goes on. Otherwise he was put to sleep, or somebody was woken. */
  #preempt(front: Event): string | undefined {
    const sleepers = this.#sleepers();
    const chosen = this.#options.choices.choose([
      { label: `${front.label}`, cost: "free" },
      { label: `held up: ${front.label}`, cost: "preemption" },
      ...sleepers.map((actor) => ({ label: `goes on: ${actor}`, cost: "preemption" as const })),
    ]);
    if (chosen === 0) return undefined;
    const woken = sleepers[chosen - 2];
    if (woken === undefined) this.#asleep.add(front.actor!);
    else this.#wake(woken);
    return woken ?? "";
  }

  #whenQuiet(): Event | undefined {
    const sleepers = this.#sleepers();
    const timer = this.#timers.reduce<Event | undefined>(
      (one, other) => (isEarlier(one, other) ? one : other),
      undefined,
    );
    const mayPass = timer !== undefined && (sleepers.length === 0 || this.#patience > 0);
    const chosen = this.#options.choices.choose([
      ...sleepers.map((actor) => ({ label: `goes on: ${actor}`, cost: "free" as const })),
      ...(mayPass ? [{ label: `time passes: ${timer.label}`, cost: "free" as const }] : []),
    ]);
    const actor = sleepers[chosen];
    if (actor !== undefined) {
      this.#wake(actor);
      return this.#take(this.#steps.find((one) => one.actor === actor)!);
    }
    if (!timer) return undefined;
    if (sleepers.length > 0) this.#patience--;
    this.#timers.splice(this.#timers.indexOf(timer), 1);
    return timer;
  }

  #sleepers(): string[] {
    return [...new Set(this.#steps.map((one) => one.actor!))].filter((actor) => this.#asleep.has(actor));
  }

  #wake(actor: string): void {
    this.#asleep.delete(actor);
    this.#current = actor;
  }

  /** Steps take no time: it passes when nobody can do anything. */
  #take(step: Event): Event {
    this.#steps.splice(this.#steps.indexOf(step), 1);
    this.#current = step.actor;
    return { ...step, time: 0 };
  }
}

const isEarlier = (one: Event | undefined, other: Event): boolean =>
  one !== undefined && (one.time < other.time || (one.time === other.time && one.order < other.order));
