import { describeError, type ErrorDescription } from "./errors.ts";

/** Something that would keep a pipeline from running (`error`), or that may do harm one day (`warning`). */
export interface Finding {
  readonly level: "error" | "warning";
  readonly error: ErrorDescription;
}

/** What was thrown, as a finding. */
export const failure = (error: unknown): Finding => ({ level: "error", error: describeError(error) });

/** @param place as of an error */
export function finding(
  level: Finding["level"],
  code: string,
  message: string,
  wayOut: string,
  place: ErrorDescription["place"] = {},
): Finding {
  return { level, error: { kind: "usage", code, message, wayOut, place } };
}
