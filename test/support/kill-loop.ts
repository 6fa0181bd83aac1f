import { copyFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { statePaths } from "../../local/compose.ts";
import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import type { Finished, Started } from "./cli.ts";
import { temporaryFolder } from "./folder.ts";
import { readHead } from "./inspect.ts";

/** Of each so many lives one is killed at any moment, as early as while the process starts; the others after some epochs. */
const livesPerEarlyDeath = 6;

export interface KillLoop {
  start(): Started;
  /** The state folder, whose ledger tells how far the process has come. */
  readonly state: string;
  /** How often the process shall be killed after it has decided something. */
  readonly kills: number;
  /** Epochs that a life lasts at most, about. */
  readonly epochsALife: number;
  readonly random: SeededRandom;
}

/** Starts a process again and again, and kills it at random moments, until it has been killed often enough; then it may end. */
export async function killLoop(loop: KillLoop): Promise<{ last: Finished; kills: number; killsAfterProgress: number }> {
  const { state, random } = loop;
  let kills = 0;
  let killsAfterProgress = 0;
  for (let life = 1; ; life++) {
    const before = await decided(state);
    const { child, finished } = loop.start();
    const enough = killsAfterProgress >= loop.kills;
    if (!enough && life % livesPerEarlyDeath === 0) await Promise.race([finished, sleep(random.below(600))]);
    else if (!enough) {
      const goal = before + 1 + random.below(loop.epochsALife);
      while (child.exitCode === null && (await decided(state)) < goal) await sleep(15);
      await Promise.race([finished, sleep(random.below(25))]);
    }
    if (!enough) child.kill("SIGKILL");
    const last = await finished;
    if (child.signalCode !== "SIGKILL") return { last, kills, killsAfterProgress };
    kills++;
    if ((await decided(state)) > before) killsAfterProgress++;
  }
}

/**
 * Epochs that the process has decided. They are looked up in a copy of its ledger, which it is to recover by itself when it starts again. A copy that was
 * taken while the process wrote may be of no use: then 0.
 */
async function decided(state: string): Promise<number> {
  const { ledger } = statePaths(state);
  using folder = temporaryFolder();
  try {
    for (const file of [ledger, `${ledger}-wal`])
      if (existsSync(file)) copyFileSync(file, join(folder.path, basename(file)));
    return (await readHead(folder.path))?.decided ?? 0;
  } catch {
    return 0;
  }
}
