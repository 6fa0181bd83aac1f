import type { RunResult } from "../local/options.ts";
import { displayPath } from "../local/paths.ts";
import { EpochflowError, type ErrorDescription, UsageError } from "../shared/errors.ts";

/** What the process says to the shell. `interrupted` is what a shell gives a command that Ctrl-C ended. */
export const exitCodes = { done: 0, failed: 1, usage: 2, inUse: 3, stopped: 4, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The paragraph of `--help`. */
export const exitCodesHelp = `Exit codes:
  0    done, or nothing to do
  1    failed; nothing is lost, the message says what to do
  2    usage: a wrong command, option, parameter, file or pipeline; nothing was
       begun
  3    another process works on this state
  4    stopped: something that exactly-once rests on is gone or has changed
  130  interrupted by Ctrl-C or SIGTERM; the next run goes on from there`;

/** Whether `epochflow pause` came while this run was at work, which is a wish fulfilled, or before it, which is an obstacle. */
export function pausedAtWork(result: RunResult): boolean {
  return result.outcome === "paused" && result.progress.epochs > 0;
}

export function exitCodeOfResult(result: RunResult): ExitCode {
  switch (result.outcome) {
    case "done":
    case "nothing-new":
      return exitCodes.done;
    case "paused":
      return pausedAtWork(result) ? exitCodes.done : exitCodes.failed;
    case "interrupted":
      return exitCodes.interrupted;
    case "in-use":
      return exitCodes.inUse;
    case "stopped":
      return result.error?.kind === "loss" ? exitCodes.stopped : exitCodes.failed;
    case "failed":
      // An input that is not there is found when the first epoch is planned.
      return result.error?.kind === "usage" ? exitCodes.usage : exitCodes.failed;
  }
}

const codesOfKinds: Record<ErrorDescription["kind"], ExitCode> = {
  usage: exitCodes.usage,
  loss: exitCodes.stopped,
  user: exitCodes.failed,
  infrastructure: exitCodes.failed,
};

const inUseCode = "state-in-use";

/** Another process works on this state. */
export function stateInUse(folder: string): UsageError {
  return new UsageError(inUseCode, `Another process works on the state in ${displayPath(folder)}`, {
    wayOut: "Wait until it is done (`run` does so with --wait), or end it; or name another --state.",
  });
}

export function exitCodeOfError(error: unknown): ExitCode {
  if (!(error instanceof EpochflowError)) return exitCodes.failed;
  return error.code === inUseCode ? exitCodes.inUse : codesOfKinds[error.kind];
}
