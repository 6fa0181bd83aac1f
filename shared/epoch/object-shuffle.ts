import { encodePartials, type Partials, readPartials } from "../operators/partials.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Shuffle } from "../ports/shuffle.ts";
import type { GroupRange } from "../state/stage-state.ts";

/** The shuffle of tasks that share no memory: an object a task, of which each task of the next stage reads its part. */
export class ObjectShuffle implements Shuffle {
  readonly #objects: ObjectStore;
  readonly #keyGroups: number;

  constructor(objects: ObjectStore, keyGroups: number) {
    this.#objects = objects;
    this.#keyGroups = keyGroups;
  }

  async put(key: string, partials: readonly Partials[]): Promise<void> {
    await this.#objects.put(key, encodePartials(partials, this.#keyGroups), { durable: false });
  }

  async get(key: string, groups: GroupRange): Promise<readonly Partials[]> {
    return await readPartials((range) => this.#objects.get(key, range), groups, key);
  }
}
