import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { write, writeJson } from "../output.ts";
import { openState } from "../state.ts";
import { formatStatus, readStatus } from "../status.ts";

export async function statusCommand(
  pipeline: string | undefined,
  options: StateOptions & { json?: true },
): Promise<ExitCode> {
  await using state = await openState(pipeline, options);
  const status = await readStatus(state);
  await (options.json ? writeJson(status) : write(`${formatStatus(status, Date.now())}\n`));
  return exitCodes.done;
}
