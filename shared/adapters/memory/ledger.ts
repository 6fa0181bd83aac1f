import type { ItemStore, Items, Key, Prefix } from "../items/item-store.ts";
import { ItemLedger } from "../items/ledger.ts";

/** All state of a ledger in memory: JSON texts by key. A copy of the map is a snapshot. */
export type LedgerItems = Map<string, string>;

/** A ledger that lives as long as its map. Several ledgers over one map are several connections to the same data. */
export class MemoryLedger extends ItemLedger {
  readonly items: LedgerItems;

  constructor(items: LedgerItems = new Map()) {
    super(memoryItems(items));
    this.items = items;
  }
}

function memoryItems(map: LedgerItems): ItemStore {
  return {
    read: (work) => work(new MemoryItems(map)),
    write: (work) => {
      const items = new MemoryItems(map);
      try {
        return work(items);
      } catch (error) {
        items.undo();
        throw error;
      }
    },
    close: () => {},
  };
}

/** One transaction: since it is synchronous it is alone, and has only to undo what it did if it fails. */
class MemoryItems implements Items {
  readonly #map: LedgerItems;
  readonly #before: [key: string, text: string | undefined][] = [];

  constructor(map: LedgerItems) {
    this.#map = map;
  }

  get<T>(key: Key<T>): T | undefined {
    const text = this.#map.get(key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  list<T>(prefix: Prefix<T>): T[] {
    const found = [...this.#map.keys()].filter((key) => key.startsWith(prefix)).sort();
    return found.map((key) => JSON.parse(this.#map.get(key)!));
  }

  keys(from: string, below: string): string[] {
    return [...this.#map.keys()].filter((key) => key >= from && key < below).sort();
  }

  insert<T>(key: Key<T>, item: T): void {
    if (this.#map.has(key)) throw new Error(`item ${key} exists`);
    this.#set(key, JSON.stringify(item));
  }

  update<T>(key: Key<T>, item: T): void {
    if (!this.#map.has(key)) throw new Error(`item ${key} does not exist`);
    this.#set(key, JSON.stringify(item));
  }

  delete(key: string): void {
    this.#before.push([key, this.#map.get(key)]);
    this.#map.delete(key);
  }

  #set(key: string, text: string): void {
    this.#before.push([key, this.#map.get(key)]);
    this.#map.set(key, text);
  }

  undo(): void {
    for (const [key, text] of this.#before.reverse())
      if (text === undefined) this.#map.delete(key);
      else this.#map.set(key, text);
  }
}
