import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { RunOptions } from "../../../local/options.ts";
import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Finished, type Started, startCli, startNode } from "../../support/cli.ts";
import type { Timeline } from "../timeline.ts";
import type { Planted } from "./planted.ts";
import type { Life } from "./process.ts";

const program = fileURLToPath(new URL("process.ts", import.meta.url));

/** Between the end of a life and the next, if nobody killed it. */
const restMs = 250;
/** Of what a life has said, in the timeline. */
const tailCharacters = 1500;

export interface RunnerOptions {
  readonly module: string;
  readonly state: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly random: SeededRandom;
  readonly timeline: Timeline;
  readonly planted?: Planted | undefined;
}

/** A pipeline that runs, and is started again whenever its process ends: a service manager. */
export class Runner {
  /** Of lives to come. */
  parallelism = 2;
  epochRecords = 100;
  /** Lives so far. */
  lives = 0;
  /** Lives that ended without being killed or asked to. */
  ended = 0;
  readonly options: RunnerOptions;
  #life: Started | undefined;
  #failure: Error | undefined;
  #isOver = false;
  #nextDeath: Life["death"];
  #supervising: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.options = options;
  }

  start(): void {
    this.#isOver = false;
    this.#supervising = this.#supervise();
  }

  /** The process that runs now; undefined between two. */
  get life(): Started | undefined {
    const { child } = this.#life ?? {};
    return child && child.exitCode === null && child.signalCode === null ? this.#life : undefined;
  }

  /** @throws if a life ended as none may, whatever is done to it */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** False if there was none to signal. */
  signal(signal: NodeJS.Signals): boolean {
    return this.life?.child.kill(signal) ?? false;
  }

  /** The next life dies at a call. */
  dieNext(death: NonNullable<Life["death"]>): void {
    this.#nextDeath = death;
  }

  /** No further life begins; the running one ends after its epoch. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.signal("SIGTERM");
    await this.#supervising;
    this.check();
  }

  /** Ends what there is, at once and in whatever state. */
  async abandon(): Promise<void> {
    this.#isOver = true;
    this.signal("SIGKILL");
    await this.#supervising;
  }

  /** To the end of the input, in peace. */
  async drain(): Promise<Finished> {
    return await this.#begin({ follow: false }).finished;
  }

  /** Another process on the same state. */
  begin(options: RunOptions): Started {
    return this.#begin({ follow: true, ...options });
  }

  async #supervise(): Promise<void> {
    const { timeline } = this.options;
    while (!this.#isOver) {
      this.lives += 1;
      this.#life = this.#begin({ follow: true, wait: true });
      const { child } = this.#life;
      const finished = await this.#life.finished;
      if (child.signalCode === null) this.#judge(finished);
      else timeline.note(`the process ended by ${child.signalCode}`);
      if (this.#failure) return;
      if (!this.#isOver && child.signalCode === null) await sleep(restMs);
    }
  }

  #judge({ code, stderr }: Finished): void {
    const { timeline } = this.options;
    timeline.note(`the process ended with code ${code}${code === 130 ? "" : `: ${stderr.slice(-tailCharacters)}`}`);
    if (code === 130) return;
    this.ended += 1;
    // 1 is for what may pass, such as a full disk. 0 it has as it was paused.
    if (code !== 0 && code !== 1) this.#failure = new Error(`a run ended with code ${code}: ${stderr}`);
  }

  #begin(more: RunOptions): Started {
    const { module, state, parameters, random, planted } = this.options;
    const options: RunOptions = {
      ...{ parameters, state, epochRecords: this.epochRecords, epochIntervalMs: 100, parallelism: this.parallelism },
      ...more,
    };
    const death = this.#nextDeath;
    this.#nextDeath = undefined;
    const byProgram = random.below(2) === 0 || death !== undefined || planted !== undefined;
    if (!byProgram) return startCli(["run", module, ...argumentsOf(options)]);
    const life: Life = {
      module,
      options,
      seed: random.below(2 ** 31),
      ...(death && { death }),
      ...(planted && { planted }),
    };
    return startNode(["--conditions=epochflow-source", program, JSON.stringify(life)]);
  }
}

function argumentsOf({ parameters = {}, state, epochRecords, epochIntervalMs, parallelism, follow, wait }: RunOptions) {
  return [
    ...Object.entries(parameters).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
    ...["--state", state!, "--epoch-records", String(epochRecords), "--epoch-interval", `${epochIntervalMs}ms`],
    ...["--parallelism", String(parallelism)],
    ...(follow ? ["--follow"] : []),
    ...(wait ? ["--wait"] : []),
  ];
}
