/** `npm run campaign`: pipelines on real parts, which are disturbed in all ways (`--help` says more). */
import { appendFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOrExit, say } from "../support/program.ts";
import { runCampaign } from "./campaign.ts";
import { help, type Options, parseOptions, targets } from "./options.ts";
import { ProgressLine } from "./progress-line.ts";
import { asJson, describeCampaign, describeFailure, describeRound, fromJson } from "./report.ts";
import type { Arena, Round } from "./round.ts";

const arenas: Readonly<Record<Options["target"], () => Promise<Arena>>> = {
  local: async () => new (await import("./local/arena.ts")).LocalArena(),
  emulator: async () => await (await import("./emulator/arena.ts")).EmulatorArena.start(),
};

async function campaign(options: Options): Promise<void> {
  const { target, results: file, keep = tmpdir(), only, verbose } = options;
  const interrupt = new AbortController();
  process.once("SIGINT", () => {
    interrupt.abort();
    say("\nEnding after this round; Ctrl-C again ends at once.");
  });
  await using arena = await arenas[target]();
  using line = new ProgressLine();
  let round: Round | undefined;
  const results = await runCampaign(arena, options, {
    signal: interrupt.signal,
    ...(only !== undefined && { isWanted: (kind) => kind.includes(only) }),
    folderFor: (seed) => join(keep, `epochflow-campaign-${target}-${seed}-${process.pid}`),
    began(seed, begun) {
      round = begun;
      if (verbose) begun.timeline.onEvent = say;
      else line.watch(`seed ${seed}`, begun.timeline);
    },
    ended(result) {
      line.clear();
      say(describeRound(result));
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(asJson(result, target))}\n`);
    },
  });
  say(`\n${describeCampaign(results)}`);
  const failed = results.find(({ problems }) => problems.length > 0);
  if (failed === undefined) return;
  say(`\n${describeFailure(failed, String(round?.timeline ?? ""))}`);
  process.exitCode = 1;
}

/** Of one run or many: what a results file holds. */
function tellFigures(file: string): void {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n").map(fromJson);
  for (const target of targets) {
    const results = lines.filter((line) => line.target === target).map(({ result }) => result);
    if (results.length > 0) say(`\n${target}\n${describeCampaign(results)}`);
  }
}

const options = optionsOrExit("campaign", help, () => parseOptions(process.argv.slice(2)));
if (options?.figures !== undefined) tellFigures(options.figures);
else if (options) {
  await campaign(options);
  // All is closed. Left to itself, Node may wait for ever for a request on a socket that was reset.
  process.stderr.write("", () => process.exit());
}
