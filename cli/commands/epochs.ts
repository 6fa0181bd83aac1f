import { formatEpochs } from "../epochs-table.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { write, writeJson } from "../output.ts";
import { openState } from "../state.ts";

export async function epochsCommand(
  pipeline: string | undefined,
  options: StateOptions & { last: number; json?: true },
): Promise<ExitCode> {
  await using state = await openState(pipeline, options);
  const to = state.head.decided + 1;
  const rows = await state.ledger.epochs({ from: Math.max(1, to - options.last), to });
  const shown = rows.slice(-options.last);
  if (options.json) await writeJson(...shown);
  else await write(`${formatEpochs(shown)}\n`);
  return exitCodes.done;
}
