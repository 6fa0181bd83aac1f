import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PolicySettings } from "../../../functions/settings.ts";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { bucketWorkload } from "../../support/aws/bucket-workload.ts";
import { Disturber } from "../../support/aws/disturber.ts";
import { FaultyStack } from "../../support/aws/faulty-stack.ts";
import { historyOf } from "../../support/aws/history.ts";
import { topicWorkload } from "../../support/aws/topic-workload.ts";
import { killWorkers } from "../../support/aws/workers.ts";
import type { Workload } from "../../support/aws/workload.ts";
import { faults } from "../../support/emulator/fault-proxy.ts";
import { disturb } from "../disturb.ts";
import type { Disturbed } from "../disturbance.ts";
import type { KafkaWorld } from "../local/world.ts";
import type { Checked, Round, RoundOptions } from "../round.ts";
import type { Tally } from "../tally.ts";
import { Timeline } from "../timeline.ts";
import type { EmulatorWorld } from "./arena.ts";
import { deploymentKinds } from "./deployment-kinds.ts";
import { functionKinds, sortOf } from "./function-kinds.ts";
import { networkKinds } from "./network-kinds.ts";

const kinds = [...functionKinds, ...networkKinds, ...deploymentKinds];

/** Whoever was to wake the pipeline may have died of it; so long later somebody does it again. */
const heartbeatMs = 5000;
/** Invocations after all is over and collected. */
const zombies = 8;
/** Of a round: each takes a quarter of a minute. */
const mostDeployments = 1;
/** Between two disturbances, at most. */
const waitMs = 2000;
const linesAtOnce = 300;
const wordsALine = 3;

/** One deployed pipeline, from its first record to the last check. */
export class EmulatorRound implements Disturbed, Round {
  readonly title: string;
  readonly timeline = new Timeline();
  readonly random: SeededRandom;
  readonly stack: FaultyStack;
  readonly kafka: KafkaWorld | undefined;
  /** Deployments that may still come. */
  deployments = mostDeployments;
  readonly #workload: Workload;
  readonly #order: SeededRandom;
  #policy: PolicySettings;
  #disturber: Disturber | undefined;
  #fedAt = Number.NEGATIVE_INFINITY;
  #wokenAt = Number.NEGATIVE_INFINITY;

  static async begin(world: EmulatorWorld, seed: number): Promise<EmulatorRound> {
    const [order, random, ofStack, ofWorkload] = [1, 2, 3, 4].map((part) => new SeededRandom(seed + part * 2 ** 28));
    const { emulator, clients, folder } = world;
    const kafka = seed % 3 === 0 ? undefined : await world.kafka();
    const prefix = `campaign-${seed}-`;
    const workload = kafka
      ? await topicWorkload(clients, ofWorkload!, { oracle: kafka.oracle, brokers: kafka.proxy.address, prefix })
      : await bucketWorkload(clients, ofWorkload!);
    const policy = drawPolicy(random!);
    const settings = { stack: `epochflow-campaign-${seed}`, props: { ...workload.props, policy } };
    const stack = await FaultyStack.deploy({ emulator, clients, folder, random: ofStack! }, settings);
    return new EmulatorRound({ order: order!, random: random!, stack, kafka, workload, policy });
  }

  private constructor(given: {
    readonly order: SeededRandom;
    readonly random: SeededRandom;
    readonly stack: FaultyStack;
    readonly kafka: KafkaWorld | undefined;
    readonly workload: Workload;
    readonly policy: PolicySettings;
  }) {
    this.random = given.random;
    this.stack = given.stack;
    this.kafka = given.kafka;
    this.#order = given.order;
    this.#workload = given.workload;
    this.#policy = given.policy;
    this.title = this.kafka ? "from a topic to a topic and a bucket" : "from a bucket to a bucket";
  }

  get disturber(): Disturber {
    return this.#disturber!;
  }

  async decided(): Promise<number> {
    const head = await this.stack.ledger.head();
    if (head?.status === "stopped") throw new Error(`it stopped: ${JSON.stringify(head.error)}`);
    return head?.decided ?? 0;
  }

  async feed(): Promise<void> {
    const { stack } = this;
    const decided = await this.decided();
    const isHungry = decided >= this.#fedAt + 3 || (await stack.ledger.wake()).owner === null;
    if (isHungry && !this.kafka?.isDown) {
      await this.#workload.feed(linesAtOnce, wordsALine);
      this.#fedAt = decided;
    }
    if (isHungry || performance.now() > this.#wokenAt + heartbeatMs) {
      await stack.wake();
      this.#wokenAt = performance.now();
    }
    await stack.recorder.look();
  }

  async deploy(): Promise<void> {
    this.deployments -= 1;
    const { entry } = this.#workload.props;
    await this.stack.deploy({ entry: entry.replace(/\.ts$/, "-changed.ts") });
    await this.stack.setPolicy(this.#policy);
    this.timeline.note("the new code is deployed");
  }

  async changePolicy(): Promise<void> {
    this.#policy = drawPolicy(this.random);
    await this.stack.setPolicy(this.#policy);
    this.timeline.note(JSON.stringify(this.#policy));
  }

  async run(options: RoundOptions): Promise<Checked> {
    const { stack, timeline } = this;
    const { tally } = options;
    this.#disturber = new Disturber(stack, (what) => {
      tally.add(what, sortOf(what));
      timeline.note(`${what}: came about`);
    });
    await disturb<EmulatorRound>(this, { ...options, kinds, waitMs, order: this.#order });
    stack.calm();
    await this.disturber.end();
    timeline.note("all is healed: to the end of the input");
    await this.#workload.close();
    await stack.wake();
    await stack.idle();
    const problems = await this.#problems();
    timeline.note("whatever was invoked is invoked again");
    this.#disturber = new Disturber(stack);
    for (let count = 0; count < zombies; count++) await this.disturber.disturb("invoked late");
    await this.disturber.end();
    await stack.idle();
    this.#count(tally);
    const later = await this.#problems();
    return { problems: [...problems, ...later], rows: this.#workload.rows, epochs: await this.decided() };
  }

  /** Histories of all executions, and the ledger's rows. */
  async keep(folder: string): Promise<void> {
    const { stack } = this;
    const json = (what: unknown) => JSON.stringify(what, null, 1);
    const executions = await stack.executions();
    for (const { name, executionArn } of executions)
      writeFileSync(join(folder, `${name}.json`), json(await historyOf(stack.clients.sfn, executionArn!)));
    writeFileSync(join(folder, "executions.json"), json(executions));
    const epochs = await stack.ledger.epochs({ from: 1, to: Number.MAX_SAFE_INTEGER });
    writeFileSync(join(folder, "ledger.json"), json([await stack.ledger.head(), await stack.ledger.wake(), ...epochs]));
    writeFileSync(join(folder, "emulator.log"), stack.emulator.log());
    if (this.kafka) writeFileSync(join(folder, "broker.log"), this.kafka.broker.log());
  }

  async end(): Promise<void> {
    const { stack } = this;
    stack.calm();
    await this.#disturber?.end();
    for (const name of stack.functions.all) killWorkers(stack.emulator.pid, stack.functions.nameOf(name));
    await stack[Symbol.asyncDispose]();
  }

  async #problems(): Promise<string[]> {
    return [...(await this.#workload.problems()), ...(await this.stack.leftovers(this.#workload.files))];
  }

  /** Of the requests that failed by chance. */
  #count(tally: Tally): void {
    for (const proxy of Object.values(this.stack.proxies))
      for (const fault of faults) {
        const count = proxy.counts[fault] ?? 0;
        if (count > 0) tally.add(`request to AWS, by chance: ${fault}`, "more", count);
      }
  }
}

function drawPolicy(random: SeededRandom): PolicySettings {
  // Running out of time counts as an error of the user's code, which stops a pipeline after some attempts.
  return {
    ...{ intervalMs: 1000, paceMs: 0, attempts: 1000, eventBudget: 2000 },
    parallelism: 1 + random.below(4),
    records: 40 + random.below(100),
    fused: random.below(2) === 0,
  };
}
