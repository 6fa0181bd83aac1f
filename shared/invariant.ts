import { EpochflowError, type ErrorPlace } from "./errors.ts";

/** The invariants of the design (protocol §2). */
export type InvariantName = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8";

/**
 * What exactly-once rests on does not hold: a bug, or a ledger that somebody else changed. It counts as a loss, so that it stops the
 * pipeline instead of being retried quietly.
 */
export class InvariantError extends EpochflowError {
  constructor(name: InvariantName, message: string, place?: ErrorPlace) {
    super("loss", `invariant-${name}`, `${name} does not hold: ${message}`, {
      wayOut:
        "Nothing was changed. Unless the ledger was edited or restored by hand, this is a bug of epochflow: please report it.",
      place,
    });
  }
}

/**
 * Asserts an invariant where it holds.
 *
 * @param message what is wrong, with the numbers; a function where making the text costs something
 * @throws InvariantError `invariant-I1` … `invariant-I8`
 */
export function invariant(
  name: InvariantName,
  condition: boolean,
  message: string | (() => string),
  place?: ErrorPlace,
): asserts condition {
  if (!condition) throw new InvariantError(name, typeof message === "string" ? message : message(), place);
}
