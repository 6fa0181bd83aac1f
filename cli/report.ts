import { inspect, styleText } from "node:util";
import type { Message } from "../local/options.ts";
import { describeError, type ErrorDescription, type ErrorPlace } from "../shared/errors.ts";
import { type ExitCode, exitCodeOfError } from "./exit-codes.ts";

/** Everything meant for people goes to standard error, so that standard output is data alone. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

type Format = Parameters<typeof styleText>[0];

/** Colours text for standard error, where that is a terminal and `NO_COLOR` is not set. */
export function style(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

/** Says what went wrong; the stack only for those who debug, by `EPOCHFLOW_DEBUG=1`. Gives the exit code. */
export function reportError(error: unknown): ExitCode {
  say(formatError(describeError(error)));
  if (process.env.EPOCHFLOW_DEBUG === "1") say(inspect(error));
  return exitCodeOfError(error);
}

/** The one format of errors: what, where, and the way out, a line each. */
export function formatError(error: ErrorDescription): string {
  const lines = [`${style(["red", "bold"], "error:")} ${indent(error.message)}`];
  const place = formatPlace(error.place ?? {});
  if (place !== "") lines.push(`  ${style("dim", "where:")} ${place}`);
  const wayOut = error.wayOut ?? (error.code === "unexpected" ? "EPOCHFLOW_DEBUG=1 shows where it comes from." : "");
  if (wayOut !== "") lines.push(`  ${style("dim", "way out:")} ${indent(wayOut)}`);
  return lines.join("\n");
}

/** What a run tells while it goes on. */
export function formatMessage({ level, text, error }: Message): string {
  const label = level === "warning" ? `${style("yellow", "warning:")} ` : "";
  return label + indent(text) + (error === undefined ? "" : `\n${formatError(error)}`);
}

/** In the order in which a reader narrows it down. */
const placeOrder: readonly (keyof ErrorPlace)[] = [
  "pipeline",
  "epoch",
  "attempt",
  "operator",
  "sink",
  "partition",
  "offset",
  "file",
  "line",
];

export function formatPlace(place: ErrorPlace): string {
  return placeOrder
    .filter((key) => place[key] !== undefined)
    .map((key) => `${key} ${place[key]}`)
    .join(", ");
}

function indent(text: string): string {
  return text.trimEnd().replaceAll("\n", "\n  ");
}
