/** `npm run campaign`: pipelines on real parts, which are disturbed in all ways (`--help` says more). */
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOrExit, say } from "../support/program.ts";
import { runCampaign } from "./campaign.ts";
import { help, type Options, parseOptions } from "./options.ts";
import { ProgressLine } from "./progress-line.ts";
import { asJson, describeCampaign, describeFailure, describeRound, totalsAsJson } from "./report.ts";
import type { Arena, Round } from "./round.ts";

const arenas: Readonly<Record<Options["target"], () => Promise<Arena>>> = {
  local: async () => new (await import("./local/arena.ts")).LocalArena(),
  emulator: async () => await (await import("./emulator/arena.ts")).EmulatorArena.start(),
};

async function campaign(options: Options): Promise<void> {
  const { target, results: file, keep = tmpdir(), verbose } = options;
  const write = (line: object) => file && appendFileSync(file, `${JSON.stringify(line)}\n`);
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
    folderFor: (seed) => join(keep, `epochflow-campaign-${target}-${seed}-${process.pid}`),
    began(seed, begun) {
      round = begun;
      if (verbose) begun.timeline.onEvent = say;
      else line.watch(`seed ${seed}`, begun.timeline);
    },
    ended(result) {
      line.clear();
      say(describeRound(result));
      write({ ...asJson(result, target), at: new Date().toISOString() });
    },
  });
  write({ ...totalsAsJson(results, target), at: new Date().toISOString() });
  say(`\n${describeCampaign(results)}`);
  const failed = results.find(({ problems }) => problems.length > 0);
  if (failed === undefined) return;
  say(`\n${describeFailure(failed, String(round!.timeline))}`);
  process.exitCode = 1;
}

const options = optionsOrExit("campaign", help, () => parseOptions(process.argv.slice(2)));
if (options) await campaign(options);
