import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openPipeline, type PipelineOptions } from "../open-pipeline.ts";
import { say } from "../report.ts";

export async function pauseCommand(pipeline: string | undefined, options: PipelineOptions): Promise<ExitCode> {
  await using open = await openPipeline(pipeline, options);
  const { ledger, head, worker, flags } = open;
  if (head.status === "stopped") {
    say(`${head.pipeline} is stopped already, by an error: \`epochflow status${flags}\` shows it.`);
    return exitCodes.failed;
  }
  await ledger.setStatus("paused");
  const then = (await open.atWork()) ? ` The ${worker} that is at work ends after its epoch.` : "";
  const now = head.status === "paused" ? "was paused before" : "is paused";
  say(`${head.pipeline} ${now}.${then} \`epochflow resume${flags}\` lets it go on.`);
  return exitCodes.done;
}
