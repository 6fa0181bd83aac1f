import { readChunks } from "../../shared/adapters/filesystem/reader.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { write } from "../output.ts";

export async function readCommand(folder: string): Promise<ExitCode> {
  for await (const chunk of readChunks(folder)) await write(chunk);
  return exitCodes.done;
}
