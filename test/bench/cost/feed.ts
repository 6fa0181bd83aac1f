import { setTimeout as sleep } from "node:timers/promises";
import { Kafka, logLevel, type Producer } from "kafkajs";
import { generateLines } from "../generate-lines.ts";

const windowMs = 10_000;
const tickMs = 100;

/** Lines for a topic, so many a second, whose time is the time; and how often each word came in each window of ten seconds, counted here. */
export class Feed implements AsyncDisposable {
  /** By `<start of the window> <word>`. */
  readonly counts = new Map<string, number>();
  records = 0;
  readonly #producer: Producer;
  readonly #topic: string;
  readonly #partitions: number;
  readonly #rate: number;
  /** Without their times, which are earlier. */
  readonly #lines = generateLines(Number.MAX_SAFE_INTEGER).map((line) => line.slice(line.indexOf("\t") + 1));
  #stopping = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(producer: Producer, topic: string, partitions: number, rate: number) {
    this.#producer = producer;
    this.#topic = topic;
    this.#partitions = partitions;
    this.#rate = rate;
  }

  /** @param rate records a second */
  static async open(bootstrap: string, topic: string, partitions: number, rate: number): Promise<Feed> {
    const producer = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    return new Feed(producer, topic, partitions, rate);
  }

  start(): void {
    this.#running = this.#run();
    this.#running.catch(() => {}); // `stop` tells
  }

  /** Ends the stream by a record in each partition that is far enough ahead to close all windows. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    const timestamp = String(Date.now() + 6 * windowMs);
    const messages = Array.from({ length: this.#partitions }, (_, partition) => ({
      partition,
      timestamp,
      value: "end",
    }));
    await this.#producer.send({ topic: this.#topic, messages });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#running.catch(() => {});
    await this.#producer.disconnect();
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    while (!this.#stopping) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * this.#rate);
      await this.#send(due - this.records);
      await sleep(tickMs);
    }
  }

  async #send(number: number): Promise<void> {
    if (number <= 0) return;
    const now = Date.now();
    const messages = Array.from({ length: number }, (_, index) => {
      const value = this.#lines.next().value as string;
      this.#count(now, value);
      return { partition: (this.records + index) % this.#partitions, timestamp: String(now), value };
    });
    this.records += number;
    await this.#producer.send({ topic: this.#topic, messages });
  }

  #count(now: number, line: string): void {
    const windowStart = now - (now % windowMs);
    for (const word of line.split(" ")) {
      const key = `${windowStart} ${word}`;
      this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    }
  }
}
