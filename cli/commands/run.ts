import { loadPipeline } from "../../local/load.ts";
import type { RunOptions } from "../../local/options.ts";
import { run } from "../../local/run.ts";
import { type ExitCode, exitCodeOfResult } from "../exit-codes.ts";
import { listenForInterrupt } from "../interrupt.ts";
import { writeJson } from "../output.ts";
import { progressView } from "../progress.ts";
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
}

export async function runCommand(module: string, given: RunCommandOptions): Promise<ExitCode> {
  const { topology } = await loadPipeline(module);
  const view = progressView(given.name ?? topology.name);
  using interrupt = listenForInterrupt({
    first: () => view.note("Ending after the running epoch; Ctrl-C again ends at once. Nothing is lost."),
    second: () => view.end(),
  });
  const hooks: RunOptions = {
    signal: interrupt.signal,
    onProgress: (progress) => view.update(progress),
    onMessage: (message) => view.note(formatMessage(message)),
  };
  try {
    const result = await run(module, { ...toRunOptions(given), ...hooks });
    view.end();
    say(formatSummary(result));
    // Counts even if whoever reads the JSON leaves before its end.
    process.exitCode = exitCodeOfResult(result);
    if (given.json) await writeJson(result);
    return exitCodeOfResult(result);
  } finally {
    view.end();
  }
}

function toRunOptions({ set, epochInterval, taskTimeout, patience, json: _, ...same }: RunCommandOptions): RunOptions {
  return {
    ...same,
    ...(set === undefined ? {} : { parameters: set }),
    ...(epochInterval === undefined ? {} : { epochIntervalMs: epochInterval }),
    ...(patience === undefined ? {} : { patienceMs: patience }),
    ...(taskTimeout === undefined ? {} : { taskTimeoutMs: taskTimeout }),
  };
}
