import { setTimeout as sleep } from "node:timers/promises";
import type { SelfManagedKafkaEvent } from "aws-lambda";
import type { Oracle, OracleRecord } from "../kafka/oracle.ts";
import { until } from "../until.ts";
import type { PipelineStack, TopicMapping } from "./pipeline-stack.ts";

type EventRecord = SelfManagedKafkaEvent["records"][string][number];

export interface KafkaEventsOptions {
  /** It is deployed. */
  readonly pipeline: PipelineStack;
  readonly oracle: Oracle;
  /** Every such event comes twice. Default: none does. */
  readonly duplicateEvery?: number;
}

/** How often the topics are looked at, and how long it waits after a failure. */
const pauseMs = 100;

/** Batches end early, too: when their time is over, or so many bytes have come. */
const mostRecords = 500;

/**
 * What Lambda does with a pipeline's event source mappings, for emulators that do not poll Kafka: reads topics from the start, also what is not committed yet, in the order
 * of each partition, and delivers what comes in batches, at least once. Lambda gives a batch up after ten times, and tells a queue, from which what cannot be served at once
 * comes again after minutes only; this tries on, so that tests need not wait for that.
 */
export class KafkaEvents implements AsyncDisposable {
  /** Deliveries that failed. */
  failed = 0;
  readonly #options: KafkaEventsOptions;
  readonly #mappings: readonly TopicMapping[];
  /** Offsets by `topic-partition`: what lies below was delivered. */
  #positions = new Map<string, number>();
  #stopped = false;
  readonly #polling: Promise<void>;
  #delivered = 0;

  constructor(options: KafkaEventsOptions) {
    this.#options = options;
    this.#mappings = options.pipeline.topicMappings;
    this.#polling = this.#poll();
  }

  /** Everything is delivered once more, as when the mapping loses its positions. */
  replay(): void {
    this.#positions = new Map();
  }

  /** Resolves when all was delivered that is in the topics now. */
  async caughtUp(): Promise<void> {
    for (const { topic } of this.#mappings) {
      const ends = await this.#options.oracle.offsets(topic, "high-watermark");
      await until(`what is in ${topic} was delivered`, async () => {
        await sleep(20);
        return ends.every((end, partition) => end <= (this.#positions.get(`${topic}-${partition}`) ?? 0));
      });
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#polling;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #poll(): Promise<void> {
    while (!this.#stopped) {
      for (const mapping of this.#mappings) await this.#pollTopic(mapping);
      await sleep(pauseMs);
    }
  }

  async #pollTopic(mapping: TopicMapping): Promise<void> {
    const { topic } = mapping;
    const { oracle } = this.#options;
    const batchSize = Math.min(mapping.batchSize, mostRecords);
    const positions = this.#positions;
    const ends = await oracle.offsets(topic, "high-watermark");
    const from = Object.fromEntries(
      ends.map((_, partition) => [partition, positions.get(`${topic}-${partition}`) ?? 0]),
    );
    if (ends.every((end, partition) => end <= from[partition]!)) return;
    const records = await oracle.read(topic, { from, isolation: "read_uncommitted" });
    for (let first = 0; first < records.length && !this.#stopped; first += batchSize)
      await this.#deliver(mapping, records.slice(first, first + batchSize));
    // Where markers of transactions are, too, there is nothing to read.
    for (const [partition, end] of ends.entries()) positions.set(`${topic}-${partition}`, end);
    for (const { partition, offset } of records) {
      const key = `${topic}-${partition}`;
      positions.set(key, Math.max(positions.get(key)!, offset + 1));
    }
  }

  async #deliver({ topic, bootstrapServers }: TopicMapping, records: readonly OracleRecord[]): Promise<void> {
    const { pipeline, duplicateEvery = Number.POSITIVE_INFINITY } = this.#options;
    const event: SelfManagedKafkaEvent = {
      eventSource: "SelfManagedKafka",
      bootstrapServers,
      records: Object.groupBy(
        records.map((record) => eventRecord(topic, record)),
        ({ partition }) => `${topic}-${partition}`,
      ) as SelfManagedKafkaEvent["records"],
    };
    const isRepeated = (this.#delivered + 1) % duplicateEvery === 0;
    for (let times = isRepeated ? 2 : 1; times > 0 && !this.#stopped; )
      try {
        await pipeline.invoke("trigger", event);
        this.#delivered++;
        times--;
      } catch {
        this.failed++;
        await sleep(pauseMs);
      }
  }
}

/** As Lambda's documentation shows it: keys and values in base64, headers as lists of bytes. */
function eventRecord(topic: string, { partition, offset, timestamp, key, value, headers }: OracleRecord): EventRecord {
  return {
    topic,
    partition,
    offset,
    timestamp,
    timestampType: "CREATE_TIME",
    ...(key && { key: key.toString("base64") }),
    ...(value && { value: value.toString("base64") }),
    headers: headers.map(([name, bytes]) => ({ [name]: [...(bytes ?? [])] })),
  } as EventRecord;
}
