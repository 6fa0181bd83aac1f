import { UsageError } from "../../errors.ts";

/** Of times and numbers of things: NaN would reach the watermark. @throws UsageError `invalid-argument` */
export function checkWhole(what: string, given: number, least = Number.MIN_SAFE_INTEGER): void {
  if (Number.isSafeInteger(given) && given >= least) return;
  throw new UsageError("invalid-argument", `${what} is ${String(given)}, but must be a whole number, ${least} or more`);
}

/** A record's value as a source has it. @throws UsageError `no-such-record` */
export function bytesOf(value: unknown): string | Uint8Array | null {
  if (value === null || typeof value === "string" || value instanceof Uint8Array) return value;
  const text = JSON.stringify(value);
  if (text !== undefined) return text;
  throw new UsageError("no-such-record", `send() takes what JSON can say, and no ${typeof value}`);
}
