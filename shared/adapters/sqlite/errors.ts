import { type EpochflowError, InfrastructureError, LossError } from "../../errors.ts";

/** Primary result codes (https://sqlite.org/rescode.html). */
const perm = 3;
const busy = 5;
const locked = 6;
const readOnly = 8;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;
/** SQLITE_IOERR_SHMSIZE, an extended code: there is no room for the `-shm` file, which is a full disk by another name. */
const noRoomForSharedMemory = 4874;

/** The primary result code of an error of `node:sqlite`, or undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return undefined;
  return error.errcode === noRoomForSharedMemory ? full : error.errcode & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === busy || code === locked;
}

/** An error of SQLite as one of ours, naming the file; any other error as it is. */
export function sqliteError(error: unknown, file: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  const details = (wayOut: string) => ({ wayOut, place: { file }, cause: error });
  const text = error instanceof Error ? error.message : String(error);
  switch (code) {
    case corrupt:
    case notADatabase:
      return damaged(file, text, error);
    case full:
      return new InfrastructureError(
        "disk-full",
        `Cannot write ${file}: there is no space left`,
        details("Free some space: the run then goes on by itself."),
      );
    case busy:
    case locked:
      return new InfrastructureError(
        "ledger-busy",
        `Cannot write ${file}: another process has held it for too long`,
        details("Look for a stopped process that uses this state folder."),
      );
    case perm:
    case readOnly:
    case cannotOpen:
      return new InfrastructureError(
        "not-permitted",
        `Cannot write ${file}: ${text}`,
        details("Give this user the right to write the file and its folder, or choose another state folder."),
      );
    default:
      return new InfrastructureError(
        "ledger-file",
        `Cannot use ${file}: ${text}`,
        details("Check the disk; the run is tried again."),
      );
  }
}

/** I8: the ledger is the only authority, so nothing can be guessed from a damaged one. */
export function damaged(file: string, what: string, cause?: unknown): EpochflowError {
  return new LossError("ledger-damaged", `The ledger ${file} is damaged: ${what}`, {
    wayOut:
      "Restore the whole state folder from a backup, or start anew with an empty state folder and an empty output.",
    place: { file },
    cause,
  });
}
