import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { say } from "../report.ts";
import { openState } from "../state.ts";

/** Sets the status, then wakes: a process that is just going idle for the pause sees it, and goes on (I7). Without one, the next `run` does. */
export async function resumeCommand(pipeline: string | undefined, options: StateOptions): Promise<ExitCode> {
  await using state = await openState(pipeline, options);
  const { ledger, head } = state;
  await ledger.setStatus("running");
  await ledger.increment(null);
  const was = head.status === "running" ? "was running already" : `is no longer ${head.status}`;
  say(`${head.pipeline} ${was}. ${state.atWork() ? "A process is at work." : "`epochflow run` goes on with it."}`);
  return exitCodes.done;
}
