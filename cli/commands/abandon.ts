import { abandonSink } from "../../shared/epoch/abandon.ts";
import { UsageError } from "../../shared/errors.ts";
import { didYouMean } from "../../shared/options.ts";
import { confirm } from "../confirm.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { formatCounted } from "../format.ts";
import { say } from "../report.ts";
import { type OpenState, openState } from "../state.ts";

export interface AbandonOptions extends StateOptions {
  readonly sink: string;
  readonly epoch: number;
  readonly yes?: true;
}

export async function abandonCommand(pipeline: string | undefined, options: AbandonOptions): Promise<ExitCode> {
  const { sink, epoch } = options;
  await using state = await openState(pipeline, options);
  using _lease = state.takeLease();
  const pending = await pendingUnits(state, epoch, sink);
  const units = formatCounted(pending, "uncommitted part");
  if (
    !(await confirm(`Give up ${units} of sink ${sink} in epoch ${epoch}? What they hold is lost for ever.`, options))
  ) {
    say("Nothing was changed.");
    return exitCodes.failed;
  }
  const { lost, committed } = await abandonSink(state.ledger, epoch, sink);
  say(`Abandoned ${formatCounted(lost, "part")} of sink ${sink} in epoch ${epoch}; ${committed} had been committed.`);
  say("`epochflow resume`, if it is stopped, and `epochflow run` go on from there.");
  return exitCodes.done;
}

async function pendingUnits({ ledger }: OpenState, epoch: number, sink: string): Promise<number> {
  const units = await ledger.units(epoch);
  const pending = units.filter((unit) => unit.status === "prepared");
  const sinks = [...new Set(pending.map((unit) => unit.sink))];
  if (sinks.includes(sink)) return pending.filter((unit) => unit.sink === sink).length;
  throw new UsageError(
    "nothing-to-abandon",
    `Sink ${sink} has nothing in epoch ${epoch} that waits for its commit.${didYouMean(sink, sinks)}`,
    {
      wayOut:
        sinks.length === 0 ? "`epochflow status` names the epoch that does." : `Sinks that have: ${sinks.join(", ")}.`,
    },
  );
}
