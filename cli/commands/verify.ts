import { loadPipeline } from "../../local/load.ts";
import { runCampaign } from "../../shared/testing/simulation/campaign.ts";
import { describeCampaign, describeFailure } from "../../shared/testing/simulation/report.ts";
import { valuesFor } from "../../shared/testing/simulation/sample.ts";
import { shrink } from "../../shared/testing/simulation/shrink.ts";
import type { Subject } from "../../shared/testing/simulation/simulate.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { write } from "../output.ts";

interface VerifyOptions {
  readonly minutes?: number;
  readonly seeds?: number;
  readonly seed?: number;
}

const minuteMs = 60_000;

/** Runs a pipeline in a simulated world in which everything fails, seed after seed. The last line is the verdict. */
export async function verifyCommand(module: string, options: VerifyOptions): Promise<ExitCode> {
  const { topology, url } = await loadPipeline(module);
  const { sample } = (await import(url)) as { sample?: unknown };
  const subject: Subject = { topology, values: valuesFor(topology, sample) };
  const began = performance.now();
  const elapsedMs = () => performance.now() - began;
  const goesOn = limitOf(options, elapsedMs);
  const campaign = await runCampaign(subject, { firstSeed: options.seed ?? 1, goesOn });
  await write(`${describeCampaign(campaign, elapsedMs() / 1000)}\n`);
  const { failing, runs } = campaign;
  if (!failing) {
    await write(`${topology.name}: no violation in ${runs} ${runs === 1 ? "run" : "runs"}\n`);
    return exitCodes.done;
  }
  const shrunk = await shrink(subject, failing);
  const { invariant, message } = shrunk.violation ?? failing.violation!;
  await write(`${describeFailure(shrunk, failing)}\n`);
  await write(`Again: epochflow verify ${module} --seed ${failing.seed}\n`);
  await write(`${topology.name}: seed ${failing.seed} breaks ${invariant}: ${message}\n`);
  return exitCodes.failed;
}

/** A seed alone is replayed; otherwise seeds or time are the limit. */
function limitOf({ minutes, seeds, seed }: VerifyOptions, elapsedMs: () => number): (runs: number) => boolean {
  if (seeds !== undefined) return (runs) => runs < seeds;
  if (minutes === undefined && seed !== undefined) return () => false;
  return () => elapsedMs() < (minutes ?? 1) * minuteMs;
}
