import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Internals } from "../../local/session.ts";
import type { ItemStore } from "../../shared/adapters/items/item-store.ts";
import { ItemLedger } from "../../shared/adapters/items/ledger.ts";
import { sqliteItems } from "../../shared/adapters/sqlite/ledger.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import { around, synchronous } from "./ports.ts";

/**
 * A machine whose power fails after a write to the ledger: from then on every call fails, and what was not synced of the ledger's log is gone when it starts again. Objects and outputs
 * are synced by whoever writes them.
 */
export class Power {
  readonly #file: string;
  readonly #failsAt: number;
  /** Writes to the ledger so far. */
  writes = 0;
  /** Of these, what a power failure would take: writes since the last sync, when it came. */
  undone = 0;
  #synced = 0;
  #items: ItemStore | undefined;
  #onDisk: { readonly database: Buffer; readonly log: Buffer } | undefined;

  /** @param file the ledger's @param failsAt number of the write, from 1 */
  constructor(file: string, failsAt = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#failsAt = failsAt;
  }

  get internals(): Internals {
    return {
      engine: (engine) => {
        // What was there before is taken for synced.
        this.#synced = this.#logBytes();
        this.#items = sqliteItems(this.#file);
        const ledger = new ItemLedger(this.#watched(this.#items));
        return around({ ...engine, ledger }, (method, call) => {
          if (!this.#onDisk) return call();
          const error = new InfrastructureError("no-power", "there is no power");
          if (synchronous.has(method)) throw error;
          return Promise.reject(error) as ReturnType<typeof call>;
        });
      },
    };
  }

  /** The process is gone, and the disk has what it has. */
  end(): void {
    this.#items?.close();
    if (!this.#onDisk) return;
    writeFileSync(this.#file, this.#onDisk.database);
    writeFileSync(this.#log, this.#onDisk.log);
    rmSync(`${this.#file}-shm`, { force: true });
  }

  #watched(items: ItemStore): ItemStore {
    return {
      ...items,
      write: (work, lasting) => {
        if (this.#onDisk) throw new InfrastructureError("no-power", "there is no power");
        const result = items.write(work, lasting);
        this.writes++;
        if (lasting === "process") this.undone++;
        else {
          this.undone = 0;
          this.#synced = this.#logBytes();
        }
        if (this.writes === this.#failsAt) this.#fail();
        return result;
      },
    };
  }

  #fail(): void {
    const log = readFileSync(this.#log).subarray(0, this.#synced);
    this.#onDisk = { database: readFileSync(this.#file), log };
  }

  get #log(): string {
    return `${this.#file}-wal`;
  }

  #logBytes(): number {
    return existsSync(this.#log) ? statSync(this.#log).size : 0;
  }
}
