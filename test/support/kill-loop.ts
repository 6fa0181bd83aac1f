import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import type { Finished, Started } from "./cli.ts";
import { decidedBeside as decided, watchDecided } from "./inspect.ts";

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
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    const enough = killsAfterProgress >= loop.kills;
    if (!enough && life % livesPerEarlyDeath === 0) await Promise.race([finished, sleep(random.below(600))]);
    else if (!enough) {
      const goal = before + 1 + random.below(loop.epochsALife);
      const decidedNow = watchDecided(state);
      while (!hasEnded() && (await decidedNow()) < goal) await sleep(15);
      await Promise.race([finished, sleep(random.below(25))]);
    }
    if (!enough) child.kill("SIGKILL");
    const last = await finished;
    if (child.signalCode !== "SIGKILL") return { last, kills, killsAfterProgress };
    kills++;
    if ((await decided(state)) > before) killsAfterProgress++;
  }
}
