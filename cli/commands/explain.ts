import { loadPipeline } from "../../local/load.ts";
import { explain } from "../../shared/pipeline/explain.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { write, writeJson } from "../output.ts";

export async function explainCommand(module: string, options: { json?: true }): Promise<ExitCode> {
  const { topology } = await loadPipeline(module);
  await (options.json ? writeJson(topology) : write(explain(topology)));
  return exitCodes.done;
}
