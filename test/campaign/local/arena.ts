import type { Arena, Round } from "../round.ts";
import type { Planted } from "./planted.ts";
import { LocalRound } from "./round.ts";
import { LocalWorld } from "./world.ts";

/** Pipelines on this machine: processes, brokers, disks. */
export class LocalArena implements Arena {
  readonly count: number;
  readonly #world = new LocalWorld();
  readonly #planted: Planted | undefined;

  /** @param given for tests of the campaign itself */
  constructor(given: { readonly count?: number; readonly planted?: Planted } = {}) {
    this.count = given.count ?? 20;
    this.#planted = given.planted;
  }

  begin(seed: number): Promise<Round> {
    return LocalRound.begin(this.#world, seed, this.#planted);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#world[Symbol.asyncDispose]();
  }
}
