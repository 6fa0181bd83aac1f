import type { DatabaseSync, StatementSync } from "node:sqlite";
import { endOf, type ItemStore, type Items, type Key, type Lasting, type Prefix } from "../items/item-store.ts";
import { ItemLedger } from "../items/ledger.ts";
import { openDatabase } from "./database.ts";
import { damaged, sqliteError } from "./errors.ts";

/**
 * A ledger in a SQLite file, which several processes may have open at once. Beside it lie `-wal` and `-shm`, which belong to it: copy or
 * move all three, or none while a process runs.
 *
 * The constructor opens the file, and makes it if it is not there; its folder must exist. It throws, as every method may, LossError `ledger-damaged` and
 * `ledger-foreign`, UsageError `ledger-format`, InfrastructureError `disk-full`, `not-permitted`, `ledger-busy` and `ledger-file`.
 */
export class SqliteLedger extends ItemLedger {
  /** @param options `readOnly`: the file must be there, and every verb that writes fails */
  constructor(file: string, options: { readonly readOnly?: boolean } = {}) {
    super(sqliteItems(file, options));
  }
}

/** The items of such a file; throws as the ledger does. */
export function sqliteItems(file: string, options: { readonly readOnly?: boolean } = {}): ItemStore {
  const named = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqliteError(error, file);
    }
  };
  const database = named(() => openDatabase(file, options));
  const items = new SqliteItems(database, file);
  return {
    read: (work) => named(() => items.transaction("BEGIN", () => work(items))),
    // IMMEDIATE: the lock comes first, so that what is read stays true until it is written.
    write: (work, lasting = "durable") =>
      named(() => {
        items.synchronize(lasting);
        return items.transaction("BEGIN IMMEDIATE", () => work(items));
      }),
    close: () => named(() => database.isOpen && database.close()),
  };
}

class SqliteItems implements Items {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #lasting: Lasting = "durable";

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
  }

  /** Whether the next commits sync the log: a sync covers what others have written to it, too. */
  synchronize(lasting: Lasting): void {
    if (lasting === this.#lasting) return;
    this.#database.exec(`PRAGMA synchronous = ${lasting === "durable" ? "FULL" : "NORMAL"}`);
    this.#lasting = lasting;
  }

  transaction<T>(begin: string, work: () => T): T {
    this.#prepared(begin).run();
    try {
      const result = work();
      this.#prepared("COMMIT").run();
      return result;
    } catch (error) {
      // SQLite itself has rolled back after some errors, a full disk among them.
      if (this.#database.isTransaction) this.#prepared("ROLLBACK").run();
      throw error;
    }
  }

  get<T>(key: Key<T>): T | undefined {
    const row = this.#prepared("SELECT value FROM item WHERE key = ?").get(key);
    return row === undefined ? undefined : this.#parse(key, row.value);
  }

  list<T>(prefix: Prefix<T>): T[] {
    const select = this.#prepared("SELECT key, value FROM item WHERE key >= ? AND key < ? ORDER BY key");
    return select.all(prefix, endOf(prefix)).map(({ key, value }) => this.#parse(String(key), value));
  }

  keys(from: string, below: string): string[] {
    const select = this.#prepared("SELECT key FROM item WHERE key >= ? AND key < ? ORDER BY key");
    return select.all(from, below).map(({ key }) => String(key));
  }

  insert<T>(key: Key<T>, item: T): void {
    this.#prepared("INSERT INTO item (key, value) VALUES (?, ?)").run(key, JSON.stringify(item));
  }

  update<T>(key: Key<T>, item: T): void {
    const { changes } = this.#prepared("UPDATE item SET value = ?2 WHERE key = ?1").run(key, JSON.stringify(item));
    if (changes === 0) throw new Error(`item ${key} does not exist`);
  }

  delete(key: string): void {
    this.#prepared("DELETE FROM item WHERE key = ?").run(key);
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #parse(key: string, text: unknown) {
    try {
      return JSON.parse(String(text));
    } catch (error) {
      throw damaged(this.#file, `its item ${key} is no JSON`, error);
    }
  }
}
