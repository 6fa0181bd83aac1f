import { pino } from "pino";
import type { Log, LogFields, LogLevel } from "../local/watch/log.ts";
import { logLevels } from "../local/watch/log.ts";
import { say, style } from "./report.ts";

/** JSON objects, a line each, on standard error. */
export function jsonLog(level: LogLevel): Log {
  return pino(
    {
      level,
      // Neither the process nor the host: whoever collects lines adds what tells them apart.
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // The stream of this process, in which a terminal or a collector that went away ends nothing.
    { write: (line) => process.stderr.write(line) },
  );
}

/** The same for people: time, level, message, and what there is to know, as `name=value`. */
export function textLog(level: LogLevel, write: (line: string) => void = say): Log {
  const isShown = (one: LogLevel) => logLevels.indexOf(one) >= logLevels.indexOf(level);
  const at = (one: LogLevel) => (fields: LogFields, message: string) => {
    if (isShown(one)) write(textLine(new Date(), one, fields, message));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

const colours = { debug: "dim", info: "cyan", warn: "yellow", error: "red" } as const;

export function textLine(time: Date, level: LogLevel, fields: LogFields, message: string): string {
  const { event: _, ...shown } = fields;
  const known = Object.entries(shown).flatMap(([name, value]) => textField(name, value));
  return [
    style("dim", time.toISOString()),
    style(colours[level], level.padEnd(5)),
    message.replaceAll(/\s+/g, " "),
    style("dim", known.join(" ")),
  ].join(" ");
}

/** An error is in the message but for its code, and what to do about it. */
function textField(name: string, value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (name === "error") {
    const { code, wayOut } = value as { readonly code: string; readonly wayOut?: string };
    return [`code=${code}`, ...(wayOut === undefined ? [] : [`wayOut=${JSON.stringify(wayOut)}`])];
  }
  return [`${name}=${typeof value === "string" && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`];
}
