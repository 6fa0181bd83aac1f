import type { KafkaClient, TopicMetadata } from "../client.ts";
import { checkTopicName, noTopicMatches, topicMissing, topicUnnamed } from "./errors.ts";

/** Which topics a source reads: by name, or all whose whole name matches a pattern, but for Kafka's internal ones. */
export class TopicSelection {
  readonly #wanted: readonly string[] | RegExp;

  constructor(wanted: readonly string[] | RegExp) {
    if (!(wanted instanceof RegExp)) wanted.forEach(checkTopicName);
    this.#wanted = wanted;
  }

  /**
   * Those that are there now.
   *
   * @param known topics that were read before
   * @throws LossError `kafka-topic-unnamed` if one of these is not wanted any more
   * @throws InfrastructureError `kafka-topic-missing` if one is not there that is not known either
   */
  async find(client: KafkaClient, known: ReadonlySet<string>): Promise<TopicMetadata[]> {
    return this.#wanted instanceof RegExp
      ? await this.#matching(client, this.#wanted, known)
      : await this.#named(client, this.#wanted, known);
  }

  async #named(client: KafkaClient, names: readonly string[], known: ReadonlySet<string>): Promise<TopicMetadata[]> {
    for (const topic of known) if (!names.includes(topic)) throw topicUnnamed(topic);
    const topics = await client.topics(names);
    const there = new Set(topics.map(({ topic }) => topic));
    const missing = names.find((name) => !there.has(name) && !known.has(name));
    if (missing !== undefined) throw topicMissing(missing);
    return topics;
  }

  async #matching(client: KafkaClient, pattern: RegExp, known: ReadonlySet<string>): Promise<TopicMetadata[]> {
    const whole = new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, ""));
    for (const topic of known) if (!whole.test(topic)) throw topicUnnamed(topic);
    const all = await client.topics(null);
    const found = all.filter(({ topic, internal }) => !internal && whole.test(topic));
    if (found.length === 0 && known.size === 0) throw noTopicMatches(pattern);
    // Of all topics we are shown those that we may see: asked by name, one that we may not see any more is an error of its own.
    const there = new Set(found.map(({ topic }) => topic));
    const missing = [...known].filter((topic) => !there.has(topic));
    return missing.length === 0 ? found : [...found, ...(await client.topics(missing))];
  }
}
