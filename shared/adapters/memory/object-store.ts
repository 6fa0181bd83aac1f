import { checkObjectKey, checkObjectPrefix, objectExists } from "../../ports/object-key.ts";
import type { ObjectStore } from "../../ports/object-store.ts";

/** Objects in one map, a copy of which is a snapshot. */
export class MemoryObjectStore implements ObjectStore {
  readonly objects: Map<string, Uint8Array>;

  constructor(objects = new Map<string, Uint8Array>()) {
    this.objects = objects;
  }

  async put(key: string, chunks: readonly Uint8Array[]): Promise<void> {
    checkObjectKey(key);
    if (this.objects.has(key)) throw objectExists(key, "memory");
    this.objects.set(key, Uint8Array.from(Buffer.concat(chunks)));
  }

  async get(key: string, range?: { start: number; end: number }): Promise<Uint8Array | undefined> {
    checkObjectKey(key);
    return this.objects.get(key)?.slice(range?.start, range?.end);
  }

  async *list(prefix: string): AsyncIterable<string> {
    checkObjectPrefix(prefix);
    for (const key of [...this.objects.keys()]) if (key.startsWith(prefix)) yield key;
  }

  async delete(keys: readonly string[]): Promise<void> {
    keys.forEach(checkObjectKey);
    for (const key of keys) this.objects.delete(key);
  }
}
