import { UsageError } from "../../shared/errors.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { write } from "../output.ts";
import { isOfStack, type StackOptions } from "../stack-options.ts";

export interface ReadOptions extends StackOptions {
  readonly sink?: string;
  /** Epochs up to this one are left out. */
  readonly after?: number;
}

export async function readCommand(folder: string | undefined, options: ReadOptions): Promise<ExitCode> {
  for await (const chunk of await chunksOf(folder, options)) await write(chunk);
  return exitCodes.done;
}

/** Adapters are loaded where they are needed. */
async function chunksOf(folder: string | undefined, options: ReadOptions): Promise<AsyncIterable<Buffer>> {
  const seen = options.after === undefined ? {} : { after: options.after };
  if (isOfStack(folder, options)) return await (await import("../stack/read.ts")).chunksOfStack(options, seen);
  if (options.sink !== undefined)
    throw new UsageError("stack-needed", "--sink picks a sink of a deployed pipeline, but there is no --stack", {
      wayOut: "On this machine, give the folder that the sink writes to.",
    });
  if (folder !== undefined)
    return (await import("../../shared/adapters/filesystem/reader.ts")).readChunks(folder, seen);
  throw new UsageError("folder-needed", "read needs a folder, or the stack of a deployed pipeline", {
    wayOut: "`epochflow read FOLDER`, or `epochflow read --stack NAME`.",
  });
}
