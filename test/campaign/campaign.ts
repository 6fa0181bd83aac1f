import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./options.ts";
import type { Arena, Checked, Round } from "./round.ts";
import { Tally } from "./tally.ts";

/** What is told of a round that is over. */
export interface RoundResult {
  readonly seed: number;
  readonly title: string;
  readonly seconds: number;
  readonly tally: Tally;
  readonly rows: number;
  readonly epochs: number;
  /** Empty: the output is what it must be. */
  readonly problems: readonly string[];
  /** Where everything is kept, if there are problems. */
  readonly kept?: string;
}

export type Limits = Pick<Options, "seed" | "minutes" | "disturbances" | "rounds">;

export interface CampaignHooks {
  /** Called when a round has begun. */
  began?(seed: number, round: Round): void;
  ended?(result: RoundResult): void;
  /** A folder for a failure. */
  folderFor(seed: number): string;
  readonly signal?: AbortSignal;
  /** Kinds to disturb with, by name; default: all. */
  readonly isWanted?: (kind: string) => boolean;
}

/** Rounds with one seed after the other, until there were enough, or one has failed. */
export async function runCampaign(arena: Arena, limits: Limits, hooks: CampaignHooks): Promise<RoundResult[]> {
  const results: RoundResult[] = [];
  const giveUpAt = performance.now() + limits.minutes * 60_000;
  const hard = () => results.reduce((sum, { tally }) => sum + tally.hard, 0);
  for (let seed = limits.seed; results.length < limits.rounds; seed++) {
    const left = limits.disturbances - hard();
    if (left <= 0 || performance.now() >= giveUpAt || hooks.signal?.aborted) break;
    const goesOn = (tally: Tally) => tally.hard < left && performance.now() < giveUpAt;
    const result = await runRound(arena, seed, goesOn, hooks);
    results.push(result);
    hooks.ended?.(result);
    if (result.problems.length > 0) break;
  }
  return results;
}

async function runRound(
  arena: Arena,
  seed: number,
  goesOn: (tally: Tally) => boolean,
  hooks: CampaignHooks,
): Promise<RoundResult> {
  const began = performance.now();
  const tally = new Tally();
  let round: Round;
  try {
    round = await arena.begin(seed);
  } catch (error) {
    return { seed, title: "it could not begin", seconds: 0, tally, ...failed(error) };
  }
  hooks.began?.(seed, round);
  try {
    const checked = await check(round, {
      ...{ tally, count: arena.count, goesOn: () => goesOn(tally) },
      ...(hooks.isWanted && { isWanted: hooks.isWanted }),
    });
    const seconds = (performance.now() - began) / 1000;
    const result = { seed, title: round.title, seconds, tally, ...checked };
    if (result.problems.length === 0) return result;
    return { ...result, kept: await keep(round, result, hooks.folderFor(seed)) };
  } finally {
    await round.end();
  }
}

/** What goes wrong otherwise is a problem, too. */
async function check(round: Round, options: Parameters<Round["run"]>[0]): Promise<Checked> {
  try {
    return await round.run(options);
  } catch (error) {
    return failed(error);
  }
}

const failed = (error: unknown): Checked => ({
  problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  rows: 0,
  epochs: 0,
});

async function keep(round: Round, { seed, title, problems }: RoundResult, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const told = problems.map((problem) => `${problem}\n`).join("");
  writeFileSync(join(folder, "failure.txt"), `seed ${seed}\n${title}\n\n${told}\n${round.timeline}`);
  await round.keep(folder);
  return folder;
}
