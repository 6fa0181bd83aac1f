/**
 * Who can mend an error, and so what the protocol does with it (protocol §6, Status):
 *
 * - `infrastructure`: unreachable, unauthorised, throttled, disk full: back off and try again, for ever;
 * - `user`: the user's code or data under `onError: fail`: the pipeline stops after k attempts;
 * - `loss`: I8, something that exactly-once rests on is gone or has changed: the pipeline stops after k attempts;
 * - `usage`: a wrong option, parameter, file or pipeline: nothing was begun.
 */
export type ErrorKind = "infrastructure" | "user" | "loss" | "usage";

/** Where it happened, as far as it is known. Holds names and numbers only, never record values or secrets. */
export interface ErrorPlace {
  readonly pipeline?: string;
  readonly epoch?: number;
  readonly attempt?: number;
  readonly operator?: string;
  readonly sink?: string;
  readonly partition?: string;
  readonly offset?: number;
  readonly file?: string;
  readonly line?: number;
}

/**
 * An error as the ledger and a worker's answer carry it.
 * `message` says what happened; `wayOut` what the reader can do about it.
 */
export interface ErrorDescription {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly wayOut?: string;
  readonly place?: ErrorPlace;
}

/** The root of all errors of epochflow. `code` is stable across versions; the message is not. */
export class EpochflowError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly wayOut: string | undefined;
  readonly place: ErrorPlace;

  constructor(
    kind: ErrorKind,
    code: string,
    message: string,
    details: { wayOut?: string | undefined; place?: ErrorPlace | undefined; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.kind = kind;
    this.code = code;
    this.wayOut = details.wayOut;
    this.place = details.place ?? {};
  }

  describe(): ErrorDescription {
    return {
      kind: this.kind,
      code: this.code,
      message: this.message,
      ...(this.wayOut === undefined ? {} : { wayOut: this.wayOut }),
      ...(Object.keys(this.place).length === 0 ? {} : { place: this.place }),
    };
  }
}

type Details = { wayOut?: string; place?: ErrorPlace; cause?: unknown };

/** A wrong option, parameter, file or pipeline: the reader mends the call. */
export class UsageError extends EpochflowError {
  constructor(code: string, message: string, details: Details = {}) {
    super("usage", code, message, details);
  }
}

/** The user's function or data failed, under `onError: "fail"`. */
export class UserCodeError extends EpochflowError {
  constructor(code: string, message: string, details: Details = {}) {
    super("user", code, message, details);
  }
}

/** I8: what exactly-once rests on is gone, or is not what the ledger says it is. */
export class LossError extends EpochflowError {
  constructor(code: string, message: string, details: Details = {}) {
    super("loss", code, message, details);
  }
}

/** A service, disk or network that may work again later. */
export class InfrastructureError extends EpochflowError {
  constructor(code: string, message: string, details: Details = {}) {
    super("infrastructure", code, message, details);
  }
}

/** An error as data: a foreign one counts as infrastructure, for whose retries no harm is done. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof EpochflowError) return error.describe();
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unexpected";
  return { kind: "infrastructure", code, message };
}

/** The error that a description was made of, without its stack. */
export function revive(description: ErrorDescription): EpochflowError {
  const { kind, code, message, wayOut, place } = description;
  return new EpochflowError(kind, code, message, { wayOut, place });
}
