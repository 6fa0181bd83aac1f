import { UsageError } from "../shared/errors.ts";

const millisecondsOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof millisecondsOf;

/**
 * Milliseconds of a duration like `500ms`, `1s`, `1.5m` or `1h`.
 *
 * @throws UsageError `invalid-duration`, naming the option, for anything else and for less than a millisecond.
 */
export function parseDuration(option: string, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const milliseconds = unit === undefined ? 0 : Math.round(Number(amount) * millisecondsOf[unit as Unit]);
  if (Number.isSafeInteger(milliseconds) && milliseconds >= 1) return milliseconds;
  const meant = /^[1-9]\d*$/.test(text) ? ` Did you mean ${text}s?` : "";
  throw new UsageError("invalid-duration", `${option} takes a duration, not "${text}".${meant}`, {
    wayOut: "Write a number and its unit: 500ms, 1s, 2m or 1h.",
  });
}

/**
 * A whole number of at least `least`.
 *
 * @throws UsageError `invalid-number`, naming the option.
 */
export function parseWholeNumber(option: string, text: string, least = 1): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError("invalid-number", `${option} takes a whole number from ${least}, not "${text}"`);
}

/** A port from 0, which is any that is free. @throws UsageError `invalid-port`, naming the option */
export function parsePort(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError("invalid-port", `${option} takes a port, not "${text}"`, {
    wayOut: `A port is a number up to 65535; ${option} alone takes one that is free. What else the command needs stands before ${option}.`,
  });
}

/**
 * An address as `9464`, `0.0.0.0:9464` or `[::1]:9464`; without a host it is this machine's own, 127.0.0.1.
 *
 * @throws UsageError `invalid-address`, naming the option
 */
export function parseAddress(option: string, text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  const port = digits === undefined ? Number.NaN : Number(digits);
  if (port <= 65_535) return { host: bracketed ?? plain ?? "127.0.0.1", port };
  throw new UsageError("invalid-address", `${option} takes a port, or an address and a port, not "${text}"`, {
    wayOut: `For example: ${option} 9464, or ${option} 0.0.0.0:9464 for other machines, too.`,
  });
}

/**
 * Adds `NAME=VALUE` to the parameters so far; the last value of a name counts, as an alias may come first.
 *
 * @throws UsageError `invalid-parameter` without a name or without `=`.
 */
export function parseParameter(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) {
    throw new UsageError("invalid-parameter", `--set takes NAME=VALUE, not "${text}"`, {
      wayOut: "For example: --set input=access.log",
    });
  }
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/**
 * A time in epoch milliseconds: as ISO 8601 has it, or a duration before now.
 *
 * @throws UsageError `invalid-time`, naming the option.
 */
export function parseTime(option: string, text: string, now: number): number {
  if (/^\d+(?:\.\d+)?(?:ms|s|m|h)$/.test(text)) return now - parseDuration(option, text);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new UsageError("invalid-time", `${option} takes a time, not "${text}"`, {
    wayOut: "Write 2026-01-31T12:00Z, or a duration before now: 30m, 2h.",
  });
}
