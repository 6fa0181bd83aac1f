import { UsageError } from "../shared/errors.ts";
import { checkOptions } from "../shared/options.ts";
import type { RunOptions } from "./options.ts";
import { logLevels } from "./watch/log.ts";

interface Kind {
  readonly what: string;
  readonly includes: (value: unknown) => boolean;
}

const whole: Kind = {
  what: "a whole number above 0",
  includes: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};
const flag: Kind = { what: "true or false", includes: (value) => typeof value === "boolean" };
const isFunction = (value: unknown) => typeof value === "function";
const listener: Kind = { what: "a function", includes: isFunction };
const folder: Kind = { what: "the path of a folder", includes: (value) => typeof value === "string" && value !== "" };
const texts: Kind = {
  what: "an object of texts",
  includes: (value) =>
    typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string"),
};
const logger: Kind = {
  what: "a logger with the methods debug, info, warn and error, as pino's",
  includes: (value) =>
    typeof value === "object" && value !== null && logLevels.every((level) => isFunction(Reflect.get(value, level))),
};
const isPort = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;
const metricsPlace: Kind = {
  what: "{ port, host? }, a port from 0 to 65535, or { registry } of prom-client",
  includes: (value) => {
    if (typeof value !== "object" || value === null) return false;
    const { port, host, registry, ...others } = value as Record<string, unknown>;
    if (Object.keys(others).length > 0) return false;
    if (registry !== undefined) return port === undefined && host === undefined && typeof registry === "object";
    return isPort(port) && (host === undefined || typeof host === "string");
  },
};
const pagePlace: Kind = {
  what: "{ port? }, a port from 0 to 65535",
  includes: (value) => {
    if (typeof value !== "object" || value === null) return false;
    const { port, ...others } = value as Record<string, unknown>;
    return Object.keys(others).length === 0 && (port === undefined || isPort(port));
  },
};
const abortSignal: Kind = { what: "an AbortSignal", includes: (value) => value instanceof AbortSignal };

const kinds: { readonly [Name in keyof RunOptions]-?: Kind } = {
  parameters: texts,
  name: { what: "a pipeline's name", includes: (value) => typeof value === "string" },
  state: folder,
  epochRecords: whole,
  epochIntervalMs: whole,
  parallelism: whole,
  follow: flag,
  patienceMs: { what: "a number of milliseconds", includes: (value) => typeof value === "number" && value >= 0 },
  hold: flag,
  wait: flag,
  taskTimeoutMs: whole,
  attempts: whole,
  retain: whole,
  onProgress: listener,
  onMessage: listener,
  log: logger,
  metrics: metricsPlace,
  ui: pagePlace,
  signal: abortSignal,
};

/** @throws UsageError `unknown-option`, or `bad-option` for a value of another kind */
export function checkRunOptions(options: RunOptions): void {
  checkOptions("run", options, Object.keys(kinds));
  for (const [name, kind] of Object.entries(kinds)) {
    const value = options[name as keyof RunOptions];
    if (value === undefined || kind.includes(value)) continue;
    throw new UsageError("bad-option", `${name} is ${String(value)}`, { wayOut: `${name} is ${kind.what}` });
  }
}
