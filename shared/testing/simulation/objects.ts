import { MemoryObjectStore } from "../../adapters/memory/object-store.ts";
import type { EpochRow, Unit } from "../../epoch/epoch.ts";
import { parseObjectKey } from "../../epoch/names.ts";
import type { Head } from "../../ports/ledger.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { epochKey, objectsOf, type WatchedItems } from "./ledger-checker.ts";
import type { Nature, Sandbox } from "./sandbox.ts";

/** The object store of a world: lists as late as it may, and watches who reads and deletes what (I2, I5). */
export class SimulatedObjects {
  readonly objects = new Map<string, Uint8Array>();
  readonly #store = new MemoryObjectStore(this.objects);
  readonly #nature: Nature;
  readonly #items: WatchedItems;
  /** Objects whose writer has had no answer yet: no listing need show them. */
  readonly #beingWritten = new Set<string>();

  constructor(nature: Nature, items: WatchedItems) {
    this.#nature = nature;
    this.#items = items;
  }

  /** The store as a process has it: each call is a step. */
  port(sandbox: Sandbox): ObjectStore {
    const put: ObjectStore["put"] = async (key, chunks) => {
      await sandbox.call("objects.put", () => {
        this.#beingWritten.add(key);
        return this.#store.put(key, chunks);
      });
      this.#beingWritten.delete(key);
    };
    const get: ObjectStore["get"] = (key, range) => {
      const reader = sandbox.invocation.name;
      return sandbox.call("objects.get", () => {
        this.#mayRead(reader, key);
        return this.#store.get(key, range);
      });
    };
    const listed = (prefix: string) => {
      const reader = sandbox.invocation.name;
      return sandbox.call("objects.list", () => this.#listed(reader, prefix));
    };
    return {
      put,
      get,
      async *list(prefix) {
        yield* await listed(prefix);
      },
      delete: (keys) =>
        sandbox.call("objects.delete", () => {
          this.#mayDelete(keys);
          return this.#store.delete(keys);
        }),
    };
  }

  /** What retained checkpoints name. */
  needed(): Set<string> {
    const rows = this.#items.all<EpochRow>(/^EPOCH#\d{12}$/);
    return new Set(rows.flatMap((row) => (row.status === "decided" && !row.dropped ? objectsOf(row) : [])));
  }

  #listed(reader: string, prefix: string): string[] {
    const isMissed = (key: string) =>
      this.#beingWritten.has(key) &&
      this.#nature.faults.hits("listing misses what is being written", `${reader} ${key}`);
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix) && !isMissed(key));
  }

  /** I2: nobody reads what an undecided attempt has written, but the attempt itself. */
  #mayRead(reader: string, key: string): void {
    const written = parseObjectKey(key);
    if (!written) return;
    const row = this.#items.item<EpochRow>(epochKey(written.epoch));
    const isDecided = !row || (row.status === "decided" && row.attempt === written.attempt);
    const isOwn = reader.startsWith(`Operate ${written.epoch}.${written.attempt}.`);
    if (!isDecided && !isOwn) this.#nature.violated("I2", `${reader} reads ${key}, which is not decided`);
  }

  /** I5: what a retained checkpoint, an uncommitted decision or an attempt that may be decided names stays. */
  #mayDelete(keys: readonly string[]): void {
    const needed = this.needed();
    const { committed, decided } = this.#items.item<Head>("HEAD")!;
    const next = this.#items.item<EpochRow>(epochKey(decided + 1));
    for (const key of keys) {
      const { epoch, attempt } = parseObjectKey(key)!;
      const isUncommitted = epoch > committed && epoch <= decided && this.#isNamedByUnit(epoch, key);
      const mayBeDecided = epoch > decided && attempt >= (next?.attempt ?? 0);
      if (needed.has(key) || isUncommitted || mayBeDecided)
        this.#nature.violated("I5", `${key} is deleted, and still needed`);
    }
  }

  #isNamedByUnit(epoch: number, key: string): boolean {
    const units = this.#items.all<Unit>(new RegExp(`^${epochKey(epoch)}#.*#UNIT#`));
    return units.some((unit) => JSON.stringify(unit).includes(key));
  }
}
