import { CommanderError } from "commander";
import { UsageError } from "../shared/errors.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./report.ts";

/**
 * The `epochflow` command.
 *
 * @param argv what stands behind the command's name
 * @returns the exit code; never throws
 */
export async function main(argv: readonly string[]): Promise<number> {
  listenForClosedOutput();
  // What user code leaves unhandled is a crash, which loses nothing; but it is reported as any other error.
  process.on("uncaughtException", (error) => process.exit(reportError(error)));
  let exitCode: ExitCode = exitCodes.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  // Errors are reported below, in our own format.
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput({ outputError() {} });
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error);
    // Help and version came as they were asked for. Without any command help comes, too, but that is an error.
    if (error.exitCode === 0) return exitCodes.done;
    return error.code === "commander.help" ? exitCodes.usage : reportError(usageErrorOf(error, argv));
  }
}

/** `error: unknown option '--stat'\n(Did you mean --state?)`, as commander words it, in our own form. */
function usageErrorOf({ code, message }: CommanderError, argv: readonly string[]): UsageError {
  const [what = "", meant] = message.replace(/^error: /, "").split("\n");
  const text = what.charAt(0).toUpperCase() + what.slice(1).replaceAll("'", '"');
  const suggestion = meant === undefined ? "" : `. ${meant.slice(1, -1)}`;
  return new UsageError(code.replace("commander.", ""), text + suggestion, { wayOut: wayOutOf(code, argv) });
}

function wayOutOf(code: string, [name = ""]: readonly string[]): string {
  if (code === "commander.unknownCommand") {
    const run = /\.[cm]?[jt]s$/.test(name) ? `To run a pipeline: epochflow run ${name}. ` : "";
    return `${run}\`epochflow --help\` lists the commands.`;
  }
  return `\`epochflow ${/^\w/.test(name) ? `${name} ` : ""}--help\` explains it.`;
}

/** A reader that has seen enough, as `head` does, ends the command in peace; a terminal that went away does not end a run. */
function listenForClosedOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") reportError(error);
    process.exit(error.code === "EPIPE" ? (process.exitCode ?? exitCodes.done) : exitCodes.failed);
  });
  process.stderr.on("error", () => {});
}
