import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { say } from "../report.ts";
import { openState } from "../state.ts";

export async function pauseCommand(pipeline: string | undefined, options: StateOptions): Promise<ExitCode> {
  await using state = await openState(pipeline, options);
  const { ledger, head } = state;
  if (head.status === "stopped") {
    say(`${head.pipeline} is stopped already, by an error: \`epochflow status\` shows it.`);
    return exitCodes.failed;
  }
  await ledger.setStatus("paused");
  const then = state.atWork() ? " The process that is at work ends after its epoch." : "";
  say(
    `${head.pipeline} ${head.status === "paused" ? "was paused before" : "is paused"}.${then} \`epochflow resume\` lets it go on.`,
  );
  return exitCodes.done;
}
