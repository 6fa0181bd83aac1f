import type { Clock } from "../../../ports/clock.ts";
import type { KafkaClient, TopicMetadata } from "../client.ts";
import { batchHeaderBytes } from "../record-batch/encode.ts";

/** What a record must know of its topic before it is staged, since at the commit it is too late to refuse it. */
export interface TargetTopic {
  readonly name: string;
  readonly partitions: number;
  /** Longest batch that the broker takes. */
  readonly mostBatchBytes: number;
  /** A compacted topic takes no record without a key. */
  readonly compacted: boolean;
  /** Milliseconds by which a record's time may be ahead of the broker's. */
  readonly mostAheadMs: number;
}

/** Milliseconds for which a topic is taken to be as it was. */
const freshMs = 60_000;
/** Topics that are described at the same time. */
const concurrency = 16;

const names = [
  "max.message.bytes",
  "segment.bytes",
  "cleanup.policy",
  "message.timestamp.type",
  "message.timestamp.after.max.ms",
  "message.timestamp.difference.max.ms",
];

/** Remembers topics that a sink writes to. */
export class TargetTopics {
  readonly #client: KafkaClient;
  readonly #clock: Clock;
  readonly #wanted: readonly string[] | null;
  #known = new Map<string, TargetTopic>();
  #freshUntil = Number.NEGATIVE_INFINITY;

  /** @param wanted names, or null for all that the user may see */
  constructor(client: KafkaClient, clock: Clock, wanted: readonly string[] | null) {
    this.#client = client;
    this.#clock = clock;
    this.#wanted = wanted && [...new Set(wanted)];
  }

  /** A topic as it was when it was loaded; undefined if it was not there. What was not there is looked for at the next load. */
  get(name: string): TargetTopic | undefined {
    const topic = this.#known.get(name);
    if (topic === undefined) this.#freshUntil = Number.NEGATIVE_INFINITY;
    return topic;
  }

  /** Asks about the topics, unless that was done a moment ago. */
  async load(): Promise<void> {
    if (this.#clock.now() < this.#freshUntil) return;
    const found = (await this.#client.topics(this.#wanted)).filter(({ internal }) => !internal);
    const described: TargetTopic[] = [];
    for (let from = 0; from < found.length; from += concurrency)
      described.push(...(await Promise.all(found.slice(from, from + concurrency).map((one) => this.#describe(one)))));
    this.#known = new Map(described.map((topic) => [topic.name, topic]));
    this.#freshUntil = this.#clock.now() + freshMs;
  }

  async #describe({ topic, partitions }: TopicMetadata): Promise<TargetTopic> {
    const settings = await this.#client.topicConfiguration(topic, names);
    const limit = (name: string) => Number(settings[name] ?? Number.POSITIVE_INFINITY);
    return {
      name: topic,
      partitions: partitions.length,
      mostBatchBytes: Math.max(batchHeaderBytes, Math.min(limit("max.message.bytes"), limit("segment.bytes"))),
      compacted: (settings["cleanup.policy"] ?? "").split(",").includes("compact"),
      mostAheadMs:
        settings["message.timestamp.type"] === "LogAppendTime"
          ? Number.POSITIVE_INFINITY
          : Math.min(limit("message.timestamp.after.max.ms"), limit("message.timestamp.difference.max.ms")),
    };
  }
}
