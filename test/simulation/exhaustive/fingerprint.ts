import type { Memory } from "../../../shared/testing/simulation/sandbox.ts";
import type { World } from "../../../shared/testing/simulation/world.ts";
import type { EnumeratedAgenda } from "./agenda.ts";

/** What everybody has learnt, as one number each: as long as it is the same, he will do the same. */
export class Knowledge implements Memory {
  readonly #known = new Map<string, number>();

  learns(actor: string, what: () => unknown, anyOrder = false): void {
    const before = this.#known.get(actor) ?? 0;
    const text = textOf(what());
    this.#known.set(actor, anyOrder ? sum(before, hashOf(text)) : hashOf(`${before} ${text}`));
  }

  forgets(actor: string): void {
    this.#known.delete(actor);
  }

  get all(): number {
    let all = 0;
    for (const [actor, known] of this.#known) all = sum(all, hashOf(`${actor} ${known}`));
    return all;
  }
}

/** Tells states of a world apart, by 53 bits: all from which its future follows, but for names that are unique anyway. */
export class Fingerprint {
  readonly #texts = new Map<string, { text: string; hash: number }>();

  of(world: World, agenda: EnumeratedAgenda, knowledge: Knowledge): number {
    const { items, store, folders, broker, log, executions, functions, scheduler } = world;
    let all = knowledge.all;
    for (const [key, text] of items) all = sum(all, this.#hashOf(key, text));
    for (const [key] of store.objects) all = sum(all, this.#hashOf(key, ""));
    const rest = [
      ...[...folders].map(([sink, one]) => [sink, [...one.staged.keys()], [...one.files], [...one.manifests]]),
      ...[broker.state(), log.state(), executions.state(), functions.state()],
      ...[scheduler.now, agenda.state(scheduler.now)],
    ];
    return sum(all, hashOf(JSON.stringify(rest)));
  }

  /** Most of a world is as it was a step ago. */
  #hashOf(key: string, text: string): number {
    const known = this.#texts.get(key);
    if (known?.text === text) return known.hash;
    const hash = hashOf(`${key} ${text}`);
    this.#texts.set(key, { text, hash });
    return hash;
  }
}

const limit = 2 ** 53;
const sum = (one: number, other: number): number => {
  const excess = one - limit + other;
  return excess < 0 ? excess + limit : excess;
};

function textOf(what: unknown): string {
  return JSON.stringify(what, (_, part: unknown) => (part instanceof Uint8Array ? part.length : part)) ?? "";
}

/** cyrb53 (bryc, public domain). */
function hashOf(text: string): number {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 2654435761);
    other = Math.imul(other ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & other) + (one >>> 0);
}
