import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openPipeline, type PipelineOptions } from "../open-pipeline.ts";
import { write, writeJson } from "../output.ts";
import { formatStatus, readStatus } from "../status.ts";

export async function statusCommand(
  pipeline: string | undefined,
  options: PipelineOptions & { json?: true },
): Promise<ExitCode> {
  await using open = await openPipeline(pipeline, options);
  const status = await readStatus(open);
  await (options.json ? writeJson(status) : write(`${formatStatus(status, open, Date.now())}\n`));
  return exitCodes.done;
}
