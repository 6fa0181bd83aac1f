import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openPipeline, type PipelineOptions } from "../open-pipeline.ts";
import { say } from "../report.ts";

/** Sets the status, then wakes: whichever of the two comes too late for somebody, he sees the other (I7). */
export async function resumeCommand(pipeline: string | undefined, options: PipelineOptions): Promise<ExitCode> {
  await using open = await openPipeline(pipeline, options);
  const { ledger, head } = open;
  await ledger.setStatus("running");
  const then = await open.wake();
  const was = head.status === "running" ? "was neither paused nor stopped" : `is no longer ${head.status}`;
  say(`${head.pipeline} ${was}. ${then}`);
  return exitCodes.done;
}
