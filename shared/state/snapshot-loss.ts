import { LossError } from "../errors.ts";
import type { MalformedError } from "./bytes.ts";

const wayOut =
  "The state cannot be read, and nothing of this epoch was decided. Bring the object back (a bucket's versions, a backup of the state folder), or start again with `epochflow reset`.";

/** I8: a snapshot object that the ledger names is not there. */
export function missingSnapshot(key: string): LossError {
  return new LossError("snapshot-missing", `The snapshot object "${key}" is missing`, { wayOut });
}

/** I8: a snapshot object is not what was written. */
export function corruptSnapshot(key: string, cause: MalformedError): LossError {
  return new LossError("snapshot-corrupt", `The snapshot object "${key}" is damaged: ${cause.message}`, {
    wayOut,
    cause,
  });
}
