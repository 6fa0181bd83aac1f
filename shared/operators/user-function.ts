import { UserCodeError } from "../errors.ts";
import type { RecordMetadata } from "../pipeline/topology.ts";

/** Passes a result on unless it is a promise: what a function gives must be there when it returns. @throws UserCodeError `asynchronous-function` */
export function settled<T>(result: T): T {
  if (result !== null && (typeof result === "object" || typeof result === "function")) refuseThenable(result);
  return result;
}

function refuseThenable(result: object): void {
  if (typeof (result as { then?: unknown }).then !== "function") return;
  // Nobody will ever await it: its rejection must not end the process.
  if (result instanceof Promise) result.catch(() => {});
  throw new UserCodeError(
    "asynchronous-function",
    "the function returned a promise, but functions of a pipeline are synchronous",
  );
}

/**
 * Whether a user's function gets the record's metadata, which costs an object per record: unless it declares exactly one parameter. (Rest parameters
 * and `arguments` make a length of 0; a default value of the second parameter hides it.)
 */
export function wantsMetadata(apply: { readonly length: number }): boolean {
  return apply.length !== 1;
}

/** A function of a value. To be called with metadata if it takes them, and else without. */
export interface UserFunction {
  readonly apply: (value: unknown, metadata?: RecordMetadata) => unknown;
  readonly takesMetadata: boolean;
}

export function userFunction(given: (...parameters: never[]) => unknown): UserFunction {
  return { apply: given as UserFunction["apply"], takesMetadata: wantsMetadata(given) };
}
