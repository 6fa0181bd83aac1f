import { UsageError } from "../../shared/errors.ts";
import { didYouMean } from "../../shared/options.ts";
import type { Ledger } from "../../shared/ports/ledger.ts";
import { confirm } from "../confirm.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { formatCounted } from "../format.ts";
import { type AbandonRequest, type OpenPipeline, openPipeline, type PipelineOptions } from "../open-pipeline.ts";
import { say } from "../report.ts";

export interface AbandonOptions extends PipelineOptions, AbandonRequest {
  readonly yes?: true;
}

export async function abandonCommand(pipeline: string | undefined, options: AbandonOptions): Promise<ExitCode> {
  const { sink, epoch } = options;
  await using open = await openPipeline(pipeline, options);
  using _lease = open.takeLease();
  const pending = await pendingUnits(open, epoch, sink);
  const units = formatCounted(pending, "uncommitted part");
  if (
    !(await confirm(`Give up ${units} of sink ${sink} in epoch ${epoch}? What they hold is lost for ever.`, options))
  ) {
    say("Nothing was changed.");
    return exitCodes.failed;
  }
  const { lost, committed, unknown } = await open.abandon(options);
  say(`Abandoned ${formatCounted(lost, "part")} of sink ${sink} in epoch ${epoch}; ${committed} had been committed.`);
  if (unknown > 0) say(`Of ${formatCounted(unknown, "part")} nobody can tell any more: look into the target.`);
  say(whatNext(open));
  return exitCodes.done;
}

function whatNext({ worker, flags, head }: OpenPipeline): string {
  const resume = `\`epochflow resume${flags}\``;
  if (worker === "process") return `${resume}, if it is stopped, and \`epochflow run\` go on from there.`;
  return head.status === "running" ? "It goes on by itself." : `It is ${head.status}: ${resume} lets it go on.`;
}

async function pendingUnits({ ledger, flags }: { ledger: Ledger; flags: string }, epoch: number, sink: string) {
  const units = await ledger.units(epoch);
  const pending = units.filter((unit) => unit.status === "prepared");
  const sinks = [...new Set(pending.map((unit) => unit.sink))];
  if (sinks.includes(sink)) return pending.filter((unit) => unit.sink === sink).length;
  if (units.some((unit) => unit.sink === sink && unit.status === "abandoned"))
    throw new UsageError("nothing-to-abandon", `Sink ${sink} has given up its output in epoch ${epoch} already`, {
      wayOut: `\`epochflow resume${flags}\`, if it is stopped.`,
    });
  throw new UsageError(
    "nothing-to-abandon",
    `Sink ${sink} has nothing in epoch ${epoch} that waits for its commit.${didYouMean(sink, sinks)}`,
    {
      wayOut:
        sinks.length === 0
          ? `\`epochflow status${flags}\` names the epoch that does.`
          : `Sinks that have: ${sinks.join(", ")}.`,
    },
  );
}
