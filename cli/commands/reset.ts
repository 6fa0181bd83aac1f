import { systemClock } from "../../shared/adapters/system/clock.ts";
import { resetPipeline } from "../../shared/epoch/restore.ts";
import { UsageError } from "../../shared/errors.ts";
import { fingerprint } from "../../shared/pipeline/fingerprint.ts";
import { confirm } from "../confirm.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { say } from "../report.ts";
import { openState } from "../state.ts";

const question = `Begin anew? The state is emptied and all of the input is read again.
What was written so far stays, so its rows come once more, in new files.`;

export async function resetCommand(
  pipeline: string | undefined,
  options: StateOptions & { yes?: true },
): Promise<ExitCode> {
  await using state = await openState(pipeline, options);
  using _lease = state.takeLease();
  const { ledger, head, topology } = state;
  if (head.committed < head.decided) {
    throw new UsageError("uncommitted", `Epoch ${head.committed + 1} is decided and not committed yet`, {
      wayOut: "`epochflow run` commits it; where it cannot, `epochflow abandon` gives it up.",
    });
  }
  if (!(await confirm(`${head.pipeline}: ${question}`, options))) {
    say("Nothing was changed.");
    return exitCodes.failed;
  }
  const goesOn = topology === undefined ? head.fingerprint : JSON.stringify(fingerprint(topology));
  const { epoch } = await resetPipeline({ ledger, clock: systemClock }, goesOn);
  if (head.status === "stopped") await ledger.setStatus("running");
  say(`${head.pipeline} begins anew after epoch ${epoch}. \`epochflow run\` reads all of the input again.`);
  return exitCodes.done;
}
