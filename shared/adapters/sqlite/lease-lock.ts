import { DatabaseSync } from "node:sqlite";
import { InfrastructureError } from "../../errors.ts";
import { isBusy } from "./errors.ts";

/** Keeps locks from the garbage collector, which would close their files and so let them go. */
const held = new Set<LeaseLock>();

/**
 * The proof that the process which held a lease is dead: an exclusive lock on a file, which the system frees at the holder's death, SIGKILL and
 * power failure included (protocol §6, Lease). It is held against all processes of the machine, and against the holder itself.
 *
 * It is the lock of a SQLite write transaction that never writes: the file stays empty, no journal is made, so nothing has to be recovered. Whoever
 * holds it must not open and close the file by other means: POSIX drops a process's locks on a file with any of its descriptors.
 */
export class LeaseLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    held.add(this);
  }

  /**
   * Takes the lock without waiting; undefined if somebody has it. The file is made if it is missing, its folder is not.
   *
   * @throws InfrastructureError `lease-file` if the file cannot be used
   */
  static tryAcquire(file: string): LeaseLock | undefined {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file, { timeout: 0 });
      // IMMEDIATE, not EXCLUSIVE: of several who begin at once, always one wins.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
      return new LeaseLock(database);
    } catch (error) {
      database?.close();
      if (isBusy(error)) return undefined;
      throw new InfrastructureError("lease-file", `Cannot lock ${file}: ${(error as Error).message}`, {
        wayOut: "Look at its folder. The file holds nothing: while no process uses this state, it may be deleted.",
        place: { file },
        cause: error,
      });
    }
  }

  /** Lets the lock go. A second call does nothing. */
  release(): void {
    if (held.delete(this)) this.#database.close();
  }
}
