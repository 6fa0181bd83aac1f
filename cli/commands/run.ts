import { loadPipeline } from "../../local/load.ts";
import type { RunOptions } from "../../local/options.ts";
import { run } from "../../local/run.ts";
import type { Log, LogLevel } from "../../local/watch/log.ts";
import { describeError } from "../../shared/errors.ts";
import { type ExitCode, exitCodeOfError, exitCodeOfResult } from "../exit-codes.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { writeJson } from "../output.ts";
import { type ProgressView, progressView } from "../progress.ts";
import { formatMessage, say } from "../report.ts";
import { formatSummary } from "../summary.ts";

export interface RunCommandOptions {
  readonly set?: Record<string, string>;
  readonly name?: string;
  readonly state?: string;
  readonly epochRecords?: number;
  readonly epochInterval?: number;
  readonly parallelism?: number;
  readonly taskTimeout?: number;
  readonly follow?: true;
  readonly patience?: number;
  readonly hold?: true;
  readonly wait?: true;
  readonly json?: true;
  readonly metrics?: { readonly host: string; readonly port: number };
  /** True: without a port. */
  readonly ui?: number | true;
  readonly log: "off" | "text" | "json";
  readonly logLevel: LogLevel;
}

export async function runCommand(module: string, given: RunCommandOptions): Promise<ExitCode> {
  const log = await logOf(given);
  if (given.log !== "json") return await runAndTell(module, given, log);
  // Whoever reads JSON has no use for other lines.
  const tell = (error: unknown): ExitCode => {
    const described = describeError(error);
    log?.error({ pipeline: module, event: "failed", error: described }, described.message);
    return exitCodeOfError(error);
  };
  // Before the command's own, which is for people.
  process.prependListener("uncaughtException", (error) => process.exit(tell(error)));
  try {
    return await runAndTell(module, given, log);
  } catch (error) {
    return tell(error);
  }
}

async function runAndTell(module: string, given: RunCommandOptions, log: Log | undefined): Promise<ExitCode> {
  const { topology } = await loadPipeline(module);
  const pipeline = given.name ?? topology.name;
  const view = log ? quietView : progressView(pipeline);
  const note = (event: string, text: string) => (log ? log.info({ pipeline, event }, text) : view.note(text));
  using interrupt = listenForInterrupt({
    first: () => note("interrupt", "Ending after the running epoch; Ctrl-C again ends at once. Nothing is lost."),
    second: () => view.end(),
  });
  const hooks: RunOptions = {
    signal: interrupt.signal,
    onProgress: (progress) => view.update(progress),
    onMessage: (message) => view.note(formatMessage(message)),
    ...(log && { log }),
  };
  try {
    const result = await run(module, { ...toRunOptions(given), ...hooks });
    view.end();
    if (given.log !== "json") say(formatSummary(result));
    // Counts even if whoever reads the JSON leaves before its end.
    process.exitCode = exitCodeOfResult(result);
    if (given.json) await writeJson(result);
    return exitCodeOfResult(result);
  } finally {
    view.end();
  }
}

/** A log says it all. */
const quietView: ProgressView = { update() {}, note() {}, end() {} };

async function logOf({ log, logLevel }: RunCommandOptions): Promise<Log | undefined> {
  if (log === "off") return undefined;
  const { jsonLog, textLog } = await import("../log.ts");
  return log === "json" ? jsonLog(logLevel) : textLog(logLevel);
}

function toRunOptions(given: RunCommandOptions): RunOptions {
  const { set, epochInterval, taskTimeout, patience, json: _, log: __, logLevel: ___, ui, ...same } = given;
  return {
    ...same,
    ...(ui === undefined ? {} : { ui: ui === true ? {} : { port: ui } }),
    ...(set === undefined ? {} : { parameters: set }),
    ...(epochInterval === undefined ? {} : { epochIntervalMs: epochInterval }),
    ...(patience === undefined ? {} : { patienceMs: patience }),
    ...(taskTimeout === undefined ? {} : { taskTimeoutMs: taskTimeout }),
  };
}
