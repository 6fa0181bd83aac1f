import { DatabaseSync } from "node:sqlite";
import type { Json } from "../../json.ts";
import { sqliteError } from "./errors.ts";

/** "epfr". */
const applicationId = 0x65706672;
const format = 1;

/** A part of a batch's output: what a sink commits. */
export interface JournalUnit {
  readonly key: string;
  readonly unit: Json;
}

export interface JournalBatch {
  readonly number: number;
  readonly status: "prepared" | "committed";
  readonly decidedAt: number;
  readonly units: readonly JournalUnit[];
}

/**
 * What has been replayed, record by record, durably (`synchronous=FULL`). A batch is decided in one transaction, together with the ids of its records; it is then committed,
 * again and again until that succeeds, before the next. The ledger of `epochflow replay`, as far as two-phase commit needs one.
 */
export class ReplayJournal implements Disposable {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens the file, and makes it if it is not there. @throws InfrastructureError, LossError of SQLite's, naming the file */
  static open(file: string): ReplayJournal {
    try {
      const database = new DatabaseSync(file, { timeout: 10_000 });
      database.exec(`
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
        BEGIN IMMEDIATE;
        CREATE TABLE IF NOT EXISTS batch
          (number INTEGER PRIMARY KEY, status TEXT NOT NULL, decided_at INTEGER NOT NULL, units TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS record (id TEXT PRIMARY KEY, batch INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format};
        COMMIT`);
      return new ReplayJournal(database);
    } catch (error) {
      throw sqliteError(error, file);
    }
  }

  has(id: string): boolean {
    return this.#database.prepare("SELECT 1 FROM record WHERE id = ?").get(id) !== undefined;
  }

  /** Number of the last batch; 0 before the first. */
  last(): number {
    const row = this.#database.prepare("SELECT max(number) AS number FROM batch").get();
    return Number(row?.number ?? 0);
  }

  lastCommitted(): number {
    const row = this.#database.prepare("SELECT max(number) AS number FROM batch WHERE status = 'committed'").get();
    return Number(row?.number ?? 0);
  }

  batch(number: number): JournalBatch | undefined {
    const row = this.#database.prepare("SELECT * FROM batch WHERE number = ?").get(number);
    if (row === undefined) return undefined;
    const status = row.status === "committed" ? "committed" : "prepared";
    return { number, status, decidedAt: Number(row.decided_at), units: JSON.parse(String(row.units)) };
  }

  /** The last batch before this one that has a unit of the key; null: none has. */
  previous(key: string, before: number): number | null {
    for (let number = before - 1; number > 0; number--)
      if (this.batch(number)?.units.some((unit) => unit.key === key)) return number;
    return null;
  }

  /** From here on the batch is to be committed, and its records are not to be replayed again. */
  decide(batch: Omit<JournalBatch, "status">, ids: readonly string[]): void {
    const { number, decidedAt, units } = batch;
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      this.#database
        .prepare("INSERT INTO batch VALUES (?, 'prepared', ?, ?)")
        .run(number, decidedAt, JSON.stringify(units));
      const insert = this.#database.prepare("INSERT INTO record VALUES (?, ?)");
      for (const id of ids) insert.run(id, number);
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  committed(number: number): void {
    this.#database.prepare("UPDATE batch SET status = 'committed' WHERE number = ?").run(number);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
