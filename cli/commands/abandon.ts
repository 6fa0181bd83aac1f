import { connectLocally } from "../../local/compose.ts";
import { abandonSink } from "../../shared/epoch/abandon.ts";
import { UsageError } from "../../shared/errors.ts";
import { didYouMean } from "../../shared/options.ts";
import { bind } from "../../shared/pipeline/bind.ts";
import type { Fingerprint } from "../../shared/pipeline/fingerprint.ts";
import type { Head } from "../../shared/ports/ledger.ts";
import { confirm } from "../confirm.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { StateOptions } from "../find-state.ts";
import { formatCounted } from "../format.ts";
import { say } from "../report.ts";
import { type OpenState, openState } from "../state.ts";

export interface AbandonOptions extends StateOptions {
  readonly sink: string;
  readonly epoch: number;
  readonly set?: Record<string, string>;
  readonly unasked?: true;
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
  const { lost, committed, unknown } = await abandon(state, options);
  say(`Abandoned ${formatCounted(lost, "part")} of sink ${sink} in epoch ${epoch}; ${committed} had been committed.`);
  if (unknown > 0) say(`Of ${formatCounted(unknown, "part")} nobody can tell any more: look into the target.`);
  say("`epochflow resume`, if it is stopped, and `epochflow run` go on from there.");
  return exitCodes.done;
}

async function abandon({ ledger, head, topology, folder }: OpenState, { sink, epoch, set, unasked }: AbandonOptions) {
  const owner = { ledger, pipeline: head.pipeline, uid: head.uid };
  if (unasked || kindOf(sink, head) === "files") return await abandonSink({ ...owner, target: {} }, epoch, sink);
  if (topology === undefined)
    throw new UsageError("module-needed", `Sink ${sink} may have the output after all, and must be asked`, {
      wayOut:
        "Name the pipeline's module, with --set for its parameters. If the sink's service is gone for good: --unasked.",
    });
  const connectors = await connectLocally(bind(topology, set ?? {}), folder);
  try {
    return await abandonSink({ ...owner, target: connectors.sink(sink) }, epoch, sink);
  } finally {
    await connectors.close();
  }
}

/** Of the topology that the state belongs to; undefined for a dead-letter sink, which is no part of it. */
function kindOf(sink: string, { fingerprint }: Head): string | undefined {
  return (JSON.parse(fingerprint) as Fingerprint).sinks[sink];
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
