import { UsageError } from "../../shared/errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { formatLag } from "../lag-table.ts";
import { write, writeJson } from "../output.ts";
import { isOfStack, type StackOptions } from "../stack-options.ts";

export interface LagOptions extends StackOptions {
  readonly set?: Record<string, string>;
  readonly name?: string;
  readonly state?: string;
  readonly json?: true;
}

export async function lagCommand(module: string | undefined, options: LagOptions): Promise<ExitCode> {
  const lag = await readLag(module, options);
  if (options.json) await writeJson(...lag.partitions);
  else await write(`${formatLag(lag, Date.now())}\n`);
  return exitCodes.done;
}

async function readLag(module: string | undefined, options: LagOptions) {
  if (isOfStack(module, options)) {
    await using open = await (await import("../stack/open.ts")).openStack(options);
    return await (await import("../stack/lag.ts")).plannedLag(open);
  }
  const { set, name, state } = options;
  if (module !== undefined) {
    const { lagOf } = await import("../../local/lag.ts");
    return await lagOf(module, {
      ...(set && { parameters: set }),
      ...(name !== undefined && { name }),
      ...(state !== undefined && { state }),
    });
  }
  throw new UsageError("pipeline-needed", "lag needs a pipeline, or the stack of a deployed one", {
    wayOut: "`epochflow lag PIPELINE`, or `epochflow lag --stack NAME`.",
  });
}
