import type { Counts, DecidedEpoch } from "../../shared/epoch/epoch.ts";
import type { ErrorDescription } from "../../shared/errors.ts";
import type { RunResult } from "../options.ts";
import type { RunEvent, Watcher } from "./events.ts";

/** From the least important on. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a line of the log is about: `event`, the pipeline, names and numbers. Numbers carry their unit in their name. */
export type LogFields = Readonly<Record<string, unknown>> & { readonly pipeline: string; readonly event: string };

/** A logger in the shape of pino's, which pino and its child loggers are: the fields, then the message. */
export type Log = { readonly [Level in LogLevel]: (fields: LogFields, message: string) => void };

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Writes what happens in a run to a log. A logger that throws is no reason for a run to fail. */
export function logWatcher(log: Log, pipeline: string): Watcher {
  return (event) => {
    const line = lineOf(event);
    if (line === undefined) return;
    try {
      log[line.level]({ pipeline, event: event.type, ...line.fields }, line.message);
    } catch {}
  };
}

/** Undefined: nothing that a log is for. */
export function lineOf(event: RunEvent): Line | undefined {
  switch (event.type) {
    case "source-seen":
      return undefined;
    case "serving":
      return { level: "info", message: `${event.what}: ${event.url}`, fields: { what: event.what, url: event.url } };
    case "run-started": {
      const { uid, decided, committed } = event.head;
      const { follow, parallelism } = event;
      return { level: "info", message: "run started", fields: { uid, decided, committed, follow, parallelism } };
    }
    case "epoch-planned": {
      const { epoch, attempt, plan, attemptPlan, failures } = event.row;
      const { bytes, partitions, watermark } = plan;
      const offsets = sum(partitions.map(({ from, to }) => to - from));
      const fields = { epoch, attempt, failures, tasks: attemptPlan.tasks, bytes, offsets, watermarkMs: watermark };
      const again = attempt > 1 ? `, attempt ${attempt}` : "";
      return { level: "info", message: `epoch ${epoch} planned${again}`, fields };
    }
    case "task-ended": {
      const { task, outcome, durationMs } = event;
      const message = `task ${task.stage}-${task.task} of epoch ${task.epoch}: ${outcome}`;
      return { level: "debug", message, fields: { ...task, outcome, durationMs } };
    }
    case "epoch-decided":
      return decidedLine(event.row);
    case "epoch-committed": {
      const { epoch, attempt, decision, committedAt } = event.row;
      const commitMs = committedAt === null ? null : Math.max(0, committedAt - decision.decidedAt);
      const { sinks } = decision;
      return { level: "info", message: `epoch ${epoch} committed`, fields: { epoch, attempt, sinks, commitMs } };
    }
    case "attempt-aborted": {
      const { id, failures, error } = event;
      const message = `attempt ${id.attempt} of epoch ${id.epoch} aborted${because(error)}`;
      return { level: "warn", message, fields: { ...id, failures, error } };
    }
    case "commit-failed": {
      const { epoch, sink, error } = event;
      const what = sink === undefined ? "its completion" : `sink ${sink}`;
      const message = `commit of epoch ${epoch} failed at ${what}, to be tried again${because(error)}`;
      return { level: "warn", message, fields: { epoch, ...(sink !== undefined && { sink }), error } };
    }
    case "step-failed": {
      const { step, place, error } = event;
      return { level: "warn", message: `${step} failed${because(error)}`, fields: { step, ...place, error } };
    }
    case "waiting":
      return {
        level: "debug",
        message: `waiting for ${event.seconds} s`,
        fields: { waitMs: Math.round(event.seconds * 1000) },
      };
    case "waiting-for-state":
      return {
        level: "info",
        message: "another process works on this state: waiting for it to end",
        fields: { state: event.state },
      };
    case "parameters-changed":
    case "held-back":
      return { level: "warn", message: event.text, fields: {} };
    case "handed-over":
      return { level: "info", message: `handed over to ${event.to}`, fields: { execution: event.to } };
    case "collect-failed":
      return {
        level: "warn",
        message: `old objects could not be collected${because(event.error)}`,
        fields: { error: event.error },
      };
    case "run-ended":
      return endLine(event.result);
  }
}

/** What at-most-once may have lost is worth a warning. */
function decidedLine(row: DecidedEpoch): Line {
  const { loss } = row.decision;
  const message = `epoch ${row.epoch} decided`;
  if (loss === undefined) return { level: "info", message, fields: decidedFields(row) };
  const lost = { lostTasks: loss.shares.length, lostRows: sum(Object.values(loss.rows)) };
  return { level: "warn", message: `${message}, with a loss`, fields: { ...decidedFields(row), ...lost } };
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function decidedFields({ epoch, attempt, plannedAt, decision }: DecidedEpoch): Record<string, unknown> {
  const { counts, watermark, decidedAt } = decision;
  return {
    epoch,
    attempt,
    durationMs: Math.max(0, decidedAt - plannedAt),
    ...countFields(counts),
    watermarkMs: watermark,
  };
}

function countFields({ records, bytes, late, skipped, deadLettered, rows }: Counts) {
  return { records, bytes, rows: sum(Object.values(rows)), late, skipped, deadLettered };
}

/** A loss (I8) and every other reason for which a pipeline has stopped is an error; what a person did is none. */
function endLine(result: RunResult): Line {
  const { outcome, error, progress, late, skipped, deadLettered } = result;
  const { decided, committed, epochs, records, bytes, rows, elapsedMs, watermark } = progress;
  const durationMs = Math.round(elapsedMs);
  const fields = {
    ...{
      outcome,
      decided,
      committed,
      epochs,
      records,
      bytes,
      rows,
      late,
      skipped,
      deadLettered,
      durationMs,
      watermarkMs: watermark,
    },
    ...(error !== undefined && { error }),
  };
  const isError = outcome === "stopped" || outcome === "failed";
  const level = isError ? "error" : outcome === "in-use" ? "warn" : "info";
  return { level, message: `run ended: ${outcome}${isError ? because(error ?? null) : ""}`, fields };
}

function because(error: ErrorDescription | null): string {
  return error === null ? "" : `: ${error.message}`;
}
