import { loadPipeline } from "../../local/load.ts";
import { displayPath } from "../../local/paths.ts";
import { describePlace, type Places, placesOf, placesOfPipeline } from "../../local/replay/places.ts";
import { Replay } from "../../local/replay/replay.ts";
import type { LetterFilter } from "../../local/replay/select.ts";
import { UsageError } from "../../shared/errors.ts";
import { bind } from "../../shared/pipeline/bind.ts";
import { confirm } from "../confirm.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { formatCounted } from "../format.ts";
import { writeJson } from "../output.ts";
import { formatReplayed, formatSelection } from "../replay-report.ts";
import { say } from "../report.ts";

interface ReplayOptions extends LetterFilter {
  readonly to?: string;
  readonly set?: Record<string, string>;
  readonly brokers?: string;
  readonly state?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

export async function replayCommand(from: string, options: ReplayOptions): Promise<ExitCode> {
  const places = await placesFor(from, options);
  const replay = new Replay(places, options, options.state);
  const selection = await replay.look();
  say(formatSelection(selection, places));
  if (options.dryRun || selection.records + selection.unfinished === 0) {
    if (options.json) await writeJson({ ...selection, replayed: 0 });
    return exitCodes.done;
  }
  const records = formatCounted(selection.records, "record");
  if (
    !(await confirm(`Put ${records} back into ${describePlace(places.to)}?`, options, "epochflow replay … --dry-run"))
  ) {
    say("Nothing was changed.");
    return exitCodes.failed;
  }
  const replayed = await replay.run(selection, progress(selection.records));
  say(formatReplayed(replayed, places, await replay.states(selection)));
  if (options.json) await writeJson({ ...selection, replayed: replayed.records });
  return replayed.refused.length === 0 ? exitCodes.done : exitCodes.failed;
}

async function placesFor(from: string, { to, brokers, set }: ReplayOptions): Promise<Places> {
  if (/\.[cm]?[jt]s$/.test(from) && !from.startsWith("topic:")) {
    const { topology } = await loadPipeline(from);
    return placesOfPipeline(bind(topology, set ?? {}), { to, brokers });
  }
  if (set === undefined) return placesOf(from, { to, brokers });
  throw new UsageError(
    "conflicting-options",
    `--set gives parameters of a pipeline, but ${displayPath(from)} is none`,
    {
      wayOut: "Name the pipeline's module instead, or leave --set out.",
    },
  );
}

/** Now and then, for a replay of many. */
function progress(total: number): (records: number) => void {
  let toldAt = performance.now();
  return (records) => {
    if (records >= total || performance.now() - toldAt < 2000) return;
    toldAt = performance.now();
    say(`${formatCounted(records, "record")} of ${formatCounted(total, "record")}…`);
  };
}
