import { loadPipeline } from "../../local/load.ts";
import { renamed } from "../../shared/pipeline/bind.ts";
import { explain } from "../../shared/pipeline/explain.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { write, writeJson } from "../output.ts";

export async function explainCommand(module: string, options: { name?: string; json?: true }): Promise<ExitCode> {
  const loaded = await loadPipeline(module);
  const topology = renamed(loaded.topology, options.name);
  await (options.json ? writeJson(topology) : write(explain(topology)));
  return exitCodes.done;
}
