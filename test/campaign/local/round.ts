import { join } from "node:path";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { decidedBeside, leftovers } from "../../support/inspect.ts";
import type { KafkaVersion } from "../../support/kafka/broker.ts";
import { disturb } from "../disturb.ts";
import type { Disturbed } from "../disturbance.ts";
import type { Checked, Round, RoundOptions } from "../round.ts";
import { Timeline } from "../timeline.ts";
import { problemsOf } from "./evaluate.ts";
import { localKinds } from "./kinds.ts";
import { RoundPlace } from "./place.ts";
import type { Planted } from "./planted.ts";
import { Records } from "./records.ts";
import { Runner } from "./runner.ts";
import { describeShape, drawShape, type Shape, usesKafka } from "./shape.ts";
import type { KafkaWorld, LocalWorld } from "./world.ts";

/** Epochs' worth of input that is added at once. */
const fedEpochs = 5;

/** One pipeline on this machine, from its first record to the last check. */
export class LocalRound implements Disturbed, Round {
  readonly random: SeededRandom;
  readonly timeline = new Timeline();
  readonly shape: Shape;
  readonly place: RoundPlace;
  readonly kafka: KafkaWorld | undefined;
  readonly runner: Runner;
  readonly #records: Records;
  readonly #order: SeededRandom;
  #fedAt = Number.NEGATIVE_INFINITY;

  /** @param fault for a test of the campaign itself */
  static async begin(world: LocalWorld, seed: number, fault?: Planted): Promise<LocalRound> {
    const shape = drawShape(new SeededRandom(seed));
    const version: KafkaVersion = seed % 3 === 0 ? "4.4.0" : "3.9.2";
    const kafka = usesKafka(shape) ? await world.kafka(version) : undefined;
    const round = new LocalRound(seed, shape, kafka, fault);
    await round.place.createTopics();
    return round;
  }

  private constructor(seed: number, shape: Shape, kafka: KafkaWorld | undefined, fault: Planted | undefined) {
    // Each has its own, so that what one draws, and when, changes nothing for the others.
    const [order, random, ofRunner, ofRecords] = [1, 2, 3, 4].map((part) => new SeededRandom(seed + part * 2 ** 28));
    this.#order = order!;
    this.random = random!;
    this.shape = shape;
    this.kafka = kafka;
    this.place = new RoundPlace(`campaign-${seed}-${process.pid}`, shape, kafka);
    const { module, state, parameters } = this.place;
    const { timeline } = this;
    this.runner = new Runner({ module, state, parameters, random: ofRunner!, timeline, planted: fault });
    this.runner.epochRecords = 60 + this.random.below(200);
    this.#records = new Records(ofRecords!, shape);
  }

  get title(): string {
    return `${this.kafka ? `Kafka ${this.kafka.version}, ` : ""}${describeShape(this.shape)}`;
  }

  async decided(): Promise<number> {
    this.runner.check();
    return await decidedBeside(this.place.state);
  }

  async feed(): Promise<void> {
    const decided = await this.decided();
    if (this.kafka?.isDown) return;
    if (decided < this.#fedAt + fedEpochs - 2) return;
    this.#fedAt = decided;
    const how = this.random.below(3) === 0 ? "in a transaction" : "plainly";
    if (this.random.below(6) === 0) await this.place.append([{ partition: 0, text: "aborted" }], "in vain");
    await this.place.append(this.#records.more(fedEpochs * this.runner.epochRecords), how);
  }

  async run(options: RoundOptions): Promise<Checked> {
    await this.feed();
    this.runner.start();
    await disturb<LocalRound>(this, { ...options, kinds: localKinds, order: this.#order });
    this.timeline.note("all is healed: to the end of the input");
    await this.runner.stop();
    const { code, stderr } = await this.runner.drain();
    if (code !== 0) return { problems: [`in peace it ended with code ${code}: ${stderr}`], rows: 0, epochs: 0 };
    this.timeline.note("it is done");
    const found = await this.place.read();
    const problems = problemsOf(this.shape, this.#records, found);
    const left = await leftovers(this.place.state, this.place.outputs);
    const rows = Object.values(found).reduce((sum, { length }) => sum + length, 0);
    return { problems: [...problems, ...left], rows, epochs: await this.decided() };
  }

  async keep(folder: string): Promise<void> {
    this.place.keep(join(folder, "place"));
  }

  async end(): Promise<void> {
    await this.runner.abandon();
    this.place[Symbol.dispose]();
  }
}
