import { lagOf } from "../../local/lag.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { formatLag } from "../lag-table.ts";
import { write, writeJson } from "../output.ts";

export interface LagOptions {
  readonly set?: Record<string, string>;
  readonly state?: string;
  readonly json?: true;
}

export async function lagCommand(module: string, { set, state, json }: LagOptions): Promise<ExitCode> {
  const lag = await lagOf(module, { ...(set && { parameters: set }), ...(state !== undefined && { state }) });
  if (json) await writeJson(...lag.partitions);
  else await write(`${formatLag(lag)}\n`);
  return exitCodes.done;
}
