import { UserCodeError } from "../../errors.ts";

/**
 * A record that is not what its decoder takes. The engine adds the place. Messages hold no part of the record: they go
 * into logs and the history of executions.
 */
export function undecodable(problem: string): UserCodeError {
  return new UserCodeError("undecodable-record", `The record ${problem}`);
}
