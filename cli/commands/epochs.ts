import { shownEpochs } from "../../local/watch/snapshot.ts";
import { formatEpochs } from "../epochs-table.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { openPipeline, type PipelineOptions } from "../open-pipeline.ts";
import { write, writeJson } from "../output.ts";

export async function epochsCommand(
  pipeline: string | undefined,
  options: PipelineOptions & { last: number; json?: true },
): Promise<ExitCode> {
  await using open = await openPipeline(pipeline, options);
  const to = open.head.decided + 1;
  const rows = await shownEpochs(open.ledger, { from: Math.max(1, to - options.last), to });
  const shown = rows.slice(-options.last);
  if (options.json) await writeJson(...shown);
  else await write(`${formatEpochs(shown)}\n`);
  return exitCodes.done;
}
