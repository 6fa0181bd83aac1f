import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { javaCommand } from "./build.ts";
import type { Engine, Place } from "./engines.ts";
import type { Usage } from "./process-usage.ts";
import { Program } from "./program.ts";
import { checkRecovery, sentBy } from "./recovery-check.ts";
import { newPlace, type World } from "./world.ts";

export interface RecoveryOptions {
  /** Of state. */
  readonly keys: number;
  /** Records a second. */
  readonly rate: number;
  /** Times that the engine is killed in a run. */
  readonly kills: number;
}

export interface RecoveryRun extends Usage {
  readonly engine: Engine;
  readonly round: number;
  readonly options: RecoveryOptions;
  /** A kill each: milliseconds from the SIGKILL to the next committed result, and to the first one that counts a record that was sent after it. */
  readonly nextResultMs: readonly number[];
  readonly freshResultMs: readonly number[];
  /** What is wrong with the results, or why there are none. */
  readonly complaint: string | undefined;
}

/** It is killed this long after it has caught up, and each time a third of a checkpoint's interval later. */
const calmMs = 3000;
const calmStepMs = 333;
/** Of traffic, that a checkpoint each second always leaves without a result. */
const backlogSeconds = 3;
const patienceMs = 600_000;
const longestMs = 1_800_000;

/** Has an engine keep a count of each key, kills it, starts it again at once, and looks when its results go on. */
export async function measureRecovery(
  engine: Engine,
  world: World,
  options: RecoveryOptions,
  round: number,
): Promise<RecoveryRun> {
  const place = await newPlace(world, `running-${engine.name}-${round}`);
  const usages: Usage[] = [];
  const found = await measure(engine, place, options, usages).catch((error: Error) => ({
    ...{ nextResultMs: [], freshResultMs: [] },
    complaint: error.message,
  }));
  await Promise.all([place.input, place.output].map((topic) => world.oracle.deleteTopic(topic)));
  if (!found.complaint) rmSync(place.work, { recursive: true });
  return {
    ...{ engine, round, options, ...found },
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakBytes: Math.max(...usages.map(({ peakBytes }) => peakBytes)),
  };
}

async function measure(engine: Engine, place: Place, options: RecoveryOptions, usages: Usage[]) {
  const start = () => new Program(engine.command(place), place.work, { longestMs });
  const traffic = new Feed(place, options);
  let program = start();
  const killedAt: number[] = [];
  try {
    for (let kill = 0; kill < options.kills; kill++) {
      await traffic.caughtUp(program);
      await sleep(calmMs + kill * calmStepMs);
      killedAt.push(Date.now());
      usages.push(await program.kill());
      program = start();
    }
    await traffic.caughtUp(program);
    const { sent, badKeys } = await traffic.end();
    const kills = killedAt.map((at) => ({ at, sent: sentBy(join(place.work, "sent"), at) }));
    const { complaint, after } = await checkRecovery(join(place.work, "results"), { keys: options.keys, sent }, kills);
    return {
      nextResultMs: after.map(({ nextAt }, index) => nextAt - killedAt[index]!),
      freshResultMs: after.map(({ freshAt }, index) => freshAt - killedAt[index]!),
      complaint: badKeys === 0 ? complaint : `${badKeys} records whose key is not that of their value`,
    };
  } finally {
    usages.push(await program.kill());
    await traffic.kill();
  }
}

/** `java/tools/…/Traffic.java`: it sends the input, and reads the results. */
class Feed {
  readonly #program: Program;
  readonly #options: RecoveryOptions;
  #at = { sent: 0, counted: 0 };
  #end: { readonly sent: number; readonly badKeys: number } | undefined;

  constructor({ bootstrap, input, output, work }: Place, options: RecoveryOptions) {
    this.#options = options;
    const parameters = [bootstrap, input, output, String(options.keys), String(options.rate), work];
    const command = javaCommand("tools", "Traffic", parameters, { work, heap: "1g" });
    this.#program = new Program(command, work, { longestMs }, (line) => this.#hear(line));
  }

  /** All keys are counted, and all that was sent by now, and results are not far behind. @throws Error if that does not come to be, or the engine ends */
  async caughtUp(engine: Program): Promise<void> {
    const { keys, rate } = this.#options;
    const failed = engine.ended.then(({ failure }) => failure ?? "it ended");
    const before = Math.max(keys, this.#at.sent);
    for (const giveUpAt = Date.now() + patienceMs; ; ) {
      const { sent, counted } = this.#at;
      if (counted > before && sent - counted < backlogSeconds * rate) return;
      const failure = await Promise.race([failed, sleep(20)]);
      if (failure !== undefined) throw new Error(failure);
      if (Date.now() > giveUpAt) throw new Error(`${sent - counted} of ${sent} records are without a result`);
    }
  }

  /** Sends no more, and waits for the results of all that was sent. */
  async end(): Promise<{ readonly sent: number; readonly badKeys: number }> {
    this.#program.write("stop");
    const { failure } = await this.#program.ended;
    if (failure || !this.#end) throw new Error(failure ?? "the traffic ended early");
    return this.#end;
  }

  async kill(): Promise<void> {
    await this.#program.kill();
  }

  #hear(line: string): void {
    const [kind, ...values] = line.split(" ");
    if (kind === "AT") this.#at = { sent: Number(values[1]), counted: Number(values[2]) };
    if (kind === "SENT") this.#end = { sent: Number(values[0]), badKeys: Number(values[2]) };
  }
}
