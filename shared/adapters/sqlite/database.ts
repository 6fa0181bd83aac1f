import { DatabaseSync } from "node:sqlite";
import { LossError, UsageError } from "../../errors.ts";
import { isBusy } from "./errors.ts";

/** Marks a file as a ledger of ours: "epfl" (https://sqlite.org/pragma.html#pragma_application_id). */
const applicationId = 0x6570666c;
const format = 1;
const busyTimeoutMs = 10_000;

/**
 * Opens a ledger's file, and makes it if it is not there and not only to be read.
 *
 * Write-ahead log: a commit with `synchronous=FULL` is one fsync of the log, one with `NORMAL` none, and a process that dies at any moment, or a power failure, leaves
 * whole transactions only, in their order (https://sqlite.org/pragma.html#pragma_synchronous). Readers (`status`) and the writer do not wait for each other. `fullfsync` is for macOS, whose fsync does not reach the disk.
 */
export function openDatabase(file: string, { readOnly = false } = {}): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly });
  try {
    database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON");
    if (!inTransaction(database, "BEGIN", () => isLedger(database, file))) {
      if (readOnly) throw new UsageError("ledger-empty", `${file} is no ledger yet`, { place: { file } });
      useWriteAheadLog(database);
      inTransaction(database, "BEGIN IMMEDIATE", () => isLedger(database, file) || create(database));
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * False: the file is empty, new. Throws for a file of somebody else. What it looks at belongs together, so it must be within a transaction: another process may
 * be making the ledger just now.
 */
function isLedger(database: DatabaseSync, file: string): boolean {
  const id = numberOf(database, "PRAGMA application_id");
  const version = numberOf(database, "PRAGMA user_version");
  if (id === applicationId && version === format) return true;
  if (id === applicationId) {
    const wayOut = "Use the version of epochflow that made it.";
    const message = `The ledger ${file} has format ${version}; this version of epochflow reads ${format}`;
    throw new UsageError("ledger-format", message, { wayOut, place: { file } });
  }
  const tables = numberOf(database, "SELECT count(*) FROM sqlite_schema");
  if (id === 0 && version === 0 && tables === 0) return false;
  throw new LossError("ledger-foreign", `${file} is a SQLite database, but not a ledger of epochflow`, {
    wayOut: "Choose another state folder, or move the file away.",
    place: { file },
  });
}

/** The mode stays with the file. Changing it does not wait for the busy timeout where several processes open a new file at once. */
function useWriteAheadLog(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const giveUpAt = performance.now() + busyTimeoutMs; ; ) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      Atomics.wait(pause, 0, 0, 10);
    }
  }
}

function create(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE item (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT;
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${format};
  `);
}

/** Whoever catches what `work` throws closes the database, which rolls back. */
function inTransaction<T>(database: DatabaseSync, begin: string, work: () => T): T {
  database.exec(begin);
  const result = work();
  database.exec("COMMIT");
  return result;
}

function numberOf(database: DatabaseSync, query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0]);
}
