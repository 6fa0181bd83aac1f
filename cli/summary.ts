import type { RunResult } from "../local/options.ts";
import { displayPath } from "../local/paths.ts";
import { pausedAtWork } from "./exit-codes.ts";
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatFields,
  formatInstant,
  formatLost,
} from "./format.ts";
import { formatError, style } from "./report.ts";

/** What a run says at its end: how it ended, what it did, where things are, and what to know or do next. */
export function formatSummary(result: RunResult): string {
  const fields = formatFields([...(result.progress.epochs > 0 ? work(result) : []), ...places(result)]);
  const parts = [
    headline(result),
    `  ${fields.replaceAll("\n", "\n  ")}`,
    ...closedWindows(result),
    ...lateRecords(result),
  ];
  if (result.error !== undefined) parts.push(formatError(result.error));
  return parts.join("\n");
}

function headline(result: RunResult): string {
  switch (result.outcome) {
    case "done":
      return `${style(["green", "bold"], "Done.")} All of the input is processed and committed.`;
    case "nothing-new":
      return "Nothing to do: all of the input was processed and committed before.";
    case "interrupted":
      return `${style(["yellow", "bold"], "Interrupted.")} Nothing is lost: run it again to go on from there.`;
    case "paused":
      return pausedAtWork(result)
        ? "Paused after the running epoch. `epochflow resume` lets it go on."
        : "The pipeline is paused, so nothing was done. `epochflow resume` lets it go on.";
    case "stopped":
      return `${style(["red", "bold"], "Stopped.")} What was committed stays. Once the cause is mended, ${
        result.error?.kind === "loss" ? "`epochflow resume` lets it go on" : "run it again"
      }.`;
    case "failed":
      return `${style(["red", "bold"], "Failed.")} Nothing is lost: run it again once the cause is mended.`;
    case "in-use":
      return "Nothing was done.";
  }
}

function work({ progress, late, skipped, deadLettered, lost }: RunResult): [string, string][] {
  const { records, bytes, epochs, rows, elapsedMs } = progress;
  const exceptions = Object.entries({ late, skipped, "dead-lettered": deadLettered })
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${formatCount(count)} ${what}`);
  return [
    ["read", `${formatCounted(records, "record")}, ${formatBytes(bytes)}`],
    ...(exceptions.length === 0 ? [] : [["of them", exceptions.join(", ")] as [string, string]]),
    ["written", formatCounted(rows, "row")],
    ...(lost === undefined ? [] : [["lost", formatLost(lost)] as [string, string]]),
    ["took", `${formatDuration(elapsedMs)}, ${formatCounted(epochs, "epoch")}`],
  ];
}

function places({ outputs, topics, state }: RunResult): [string, string][] {
  const written = Object.entries(topics).map(([sink, topic]): [string, string] => [
    `sink ${sink}`,
    topic === "" ? "topics by row" : `topic ${topic}`,
  ]);
  const folders = Object.entries(outputs).map(([sink, folder]): [string, string] => [
    `sink ${sink}`,
    `${displayPath(folder)}  ${style("dim", `(epochflow read ${displayPath(folder)})`)}`,
  ]);
  return [...folders, ...written, ["state", displayPath(state)]];
}

function closedWindows({ closedUntil, outcome }: RunResult): string[] {
  if (closedUntil === null || outcome !== "done") return [];
  return [
    `The end of the input closed the windows up to ${formatInstant(closedUntil)}:`,
    "later records of them will be late. --hold leaves windows open.",
  ];
}

/** Without a sink for them late records are counted, and nowhere else: `WINDOW-late` is what such a sink is called. */
function lateRecords({ late, progress, outputs, topics }: RunResult): string[] {
  const sinks = [...Object.keys(outputs), ...Object.keys(topics)];
  if (late === 0 || progress.epochs === 0 || sinks.some((sink) => sink.endsWith("-late"))) return [];
  return [
    "Late records came after their windows were closed, and are in none of the rows:",
    "`allowedLateness` of a window gives them time, `late` a sink.",
  ];
}
